import { join } from 'node:path';
import { succeeded } from '@jackin/core';
import { type RepositoryGit, records } from './repository-git.ts';
import { gitDirectoryAt } from './source-directory.ts';
import type { SubmoduleFact } from './source-facts.ts';

/** The submodules a commit names, and which of them have a repository in `workTree`. */
export async function submodulesOf(
  git: RepositoryGit,
  workTree: string,
  commit: string,
): Promise<SubmoduleFact[]> {
  // Without the file the command fails, and so does it when the file cannot be understood: then nothing is known.
  const listing = await git.run(['ls-tree', '-z', commit, '--', '.gitmodules']);
  if (!succeeded(listing) || listing.stdout.length === 0) return [];
  const settings = records(await git.must(['config', `--blob=${commit}:.gitmodules`, '--list', '-z']));
  const modules = modulesIn(settings);
  if (modules.length === 0) return [];
  const commits = await gitlinks(git, commit, modules);
  return await Promise.all(
    modules.map(async ({ name, path, url }) => ({
      name,
      path,
      url,
      commit: commits.get(path) ?? null,
      initialised: (await submoduleDirectory(join(workTree, path))) !== null,
    })),
  );
}

/** The git directory of an initialised submodule; null when it has none. */
export async function submoduleDirectory(path: string): Promise<string | null> {
  return await gitDirectoryAt(path).catch(() => null);
}

interface Module {
  name: string;
  path: string;
  url: string | null;
}

function modulesIn(settings: readonly string[]): Module[] {
  const found = new Map<string, { path: string | null; url: string | null }>();
  for (const setting of settings) {
    const end = setting.indexOf('\n');
    const match = /^submodule\.(.*)\.(path|url)$/s.exec(end === -1 ? setting : setting.slice(0, end));
    if (match?.[1] === undefined || end === -1) continue;
    const entry = found.get(match[1]) ?? { path: null, url: null };
    found.set(match[1], { ...entry, [match[2] as string]: setting.slice(end + 1) });
  }
  return [...found].flatMap(([name, { path, url }]) =>
    path === null || !staysInside(path) ? [] : [{ name, path, url }],
  );
}

/** A path of the repository's choice: relative, and never out of the tree or into a git directory. */
function staysInside(path: string): boolean {
  const parts = path.split('/');
  return (
    !path.startsWith('/') &&
    !path.startsWith('-') &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')
  );
}

async function gitlinks(git: RepositoryGit, commit: string, modules: Module[]): Promise<Map<string, string>> {
  const paths = modules.map(({ path }) => path);
  const listed = records(await git.must(['ls-tree', '-z', commit, '--', ...paths]));
  return new Map(
    listed.flatMap((entry): [string, string][] => {
      const match = /^160000 commit ([0-9a-f]+)\t(.*)$/s.exec(entry);
      return match?.[1] === undefined || match[2] === undefined ? [] : [[match[2], match[1]]];
    }),
  );
}
