import { mkdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { succeeded } from '@jackin/core';
import { lfsOf } from './lfs.ts';
import { populate } from './populate.ts';
import { type GitContext, repositoryGit } from './repository-git.ts';
import { commonDirectoryOf, look } from './source-directory.ts';
import type { SubmoduleFact } from './source-facts.ts';
import {
  lfsSettings,
  originOf,
  ownFilters,
  parseSettings,
  settingOf,
  withoutFilters,
} from './source-settings.ts';
import { submoduleDirectory, submodulesOf } from './submodule-facts.ts';

export interface EmbedOptions {
  /** The working tree the submodules are initialised in. */
  source: string;
  /** Where their repositories may be. */
  within: readonly string[];
  tree: string;
  submodules: readonly SubmoduleFact[];
  /** Pointers instead of what git-lfs keeps. */
  pointers: boolean;
}

const DEPTH = 8;

/**
 * Gives a tree the submodules its source has initialised, each with a repository of its own in place, so that neither
 * the source's submodules nor its configuration are shared or changed. Returns a sentence for each that stays empty.
 */
export async function embedSubmodules(
  options: EmbedOptions,
  context: GitContext,
  depth = 0,
): Promise<string[]> {
  const notices: string[] = [];
  for (const submodule of options.submodules) {
    if (!submodule.initialised || submodule.commit === null) continue;
    const reason = depth >= DEPTH ? 'it is too deep' : null;
    notices.push(
      ...(reason === null ? await embed(options, submodule, context, depth) : [empty(submodule, reason)]),
    );
  }
  return notices;
}

async function embed(
  options: EmbedOptions,
  submodule: SubmoduleFact,
  context: GitContext,
  depth: number,
): Promise<string[]> {
  const source = join(options.source, submodule.path);
  const target = join(options.tree, submodule.path);
  const commit = submodule.commit as string;
  const gitDir = await submoduleDirectory(source);
  if (gitDir === null) return [empty(submodule, 'its repository is gone')];
  const inside = (path: string) =>
    options.within.some((place) => path === place || path.startsWith(place + sep));
  const commonDir = await commonDirectoryOf(gitDir);
  if (!inside(gitDir) || !inside(commonDir)) {
    return [empty(submodule, 'its repository lies outside of the one it belongs to')];
  }
  const git = repositoryGit(gitDir, context, [source]);
  const settings = parseSettings(await git.must(['config', '--list', '-z', '--show-scope', '--includes']));
  const filters = settings === null ? null : ownFilters(settings);
  const neutral = filters === null ? null : withoutFilters(filters);
  if (settings === null || neutral === null) return [empty(submodule, 'its configuration cannot be read')];
  if (!succeeded(await git.run(['cat-file', '-e', `${commit}^{commit}`]))) {
    return [empty(submodule, `its repository does not have the commit ${commit}`)];
  }
  await mkdir(target, { recursive: true });
  if ((await realpath(target)) !== join(await realpath(options.tree), submodule.path)) {
    return [empty(submodule, 'its path leads elsewhere')];
  }
  if ((await look(join(target, '.git'))) !== null) return [empty(submodule, 'there is a repository already')];
  const lfs = await lfsOf(git, commonDir, commit);
  const origin = originOf(settings, source);
  const pointers = options.pointers || !lfs.available;
  await populate(
    {
      source: git,
      sourceCommonDir: commonDir,
      target,
      objectFormat: settingOf(settings, 'extensions.objectformat') === 'sha256' ? 'sha256' : 'sha1',
      commit,
      branch: null,
      origin: origin.state === 'url' ? origin.url : null,
      settings: [...neutral, ...(lfs.used ? lfsChoice(pointers) : [])],
    },
    context,
  );
  const below = await submodulesOf(git, source, commit);
  return [
    ...(lfs.used && pointers
      ? [`Files of the submodule ${submodule.path} kept with git-lfs are pointers.`]
      : []),
    ...(await embedSubmodules({ ...options, source, tree: target, submodules: below }, context, depth + 1)),
  ];
}

/** Settings for a checkout with or without the files git-lfs keeps. */
export function lfsChoice(pointers: boolean): readonly string[] {
  return pointers ? (withoutFilters(['lfs']) ?? []) : lfsSettings;
}

function empty({ path }: SubmoduleFact, reason: string): string {
  return `The submodule ${path} is empty in the tree: ${reason}.`;
}
