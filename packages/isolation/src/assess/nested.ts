import { join } from 'node:path';
import type { FileEvidence, NestedEvidence } from '../types.ts';
import type { Context } from './context.ts';
import { Doubt } from './doubt.ts';
import { isGitDirectory, openRepository, type Repository } from './git-directory.ts';
import { GITLINK, type Index, isTracked } from './index-file.ts';
import type { AssessLimits } from './limits.ts';
import { byName, fileName } from './names.ts';
import { below, canonical, entriesOf, isInside, list, look, readRegular } from './read.ts';
import type { Walked } from './walk.ts';

/** A repository inside of a tree, found but not assessed yet. */
export interface Found {
  /** Relative to the tree, or the whole path of one outside of it; bytes as latin1. */
  name: string;
  kind: NestedEvidence['kind'];
  repository: Repository | null;
  /** Why there is none. */
  problem: string | null;
  stray?: true;
}

const GITMODULES_BYTES = 4 * 1024 * 1024;

/**
 * Opens, by our own reading, what the walk found; git may be let into the tree only when none of them leads outside.
 * @throws Doubt when there are too many
 */
export function openNested(
  outer: Repository & { tree: string },
  walked: Walked,
  index: Index,
  context: Context,
): Found[] {
  const gitlinks = new Set(index.special.filter(({ mode }) => mode === GITLINK).map(({ path }) => path));
  const modules = submodulePaths(outer.tree);
  const around = [...context.within, outer.gitDir, outer.commonDir];
  const bare = walked.bare.filter((name) => !isTracked(index, `${name}/HEAD`));
  const names = [...walked.repositories, ...bare].sort(byName);
  if (names.length > context.limits.nested) {
    throw new Doubt(`the tree has more than ${context.limits.nested} repositories inside`);
  }
  const found = names.map((name): Found => {
    const plain = gitlinks.has(name) ? (modules.has(name) ? 'submodule' : 'gitlink') : 'repository';
    const path = below(outer.tree, name);
    if (typeof path !== 'string' && !path.equals(Buffer.from(path.toString()))) {
      return { name, kind: plain, repository: null, problem: 'its name is not text' };
    }
    try {
      const repository = openRepository(path.toString(), { views: context.views, around });
      const kind =
        repository.kind === 'worktree' ? 'worktree' : repository.kind === 'submodule' ? 'submodule' : plain;
      return { name, kind, repository, problem: null };
    } catch (error) {
      if (error instanceof Doubt) return { name, kind: plain, repository: null, problem: error.message };
      throw error;
    }
  });
  return [...found, ...unusedModules(outer, found, context.limits)];
}

/** Git directories of submodules that have no work tree at the moment: what they hold goes with the tree all the same. */
function unusedModules(outer: Repository, found: readonly Found[], limits: AssessLimits): Found[] {
  const used = new Set(found.map(({ repository }) => repository?.gitDir));
  const root = join(outer.gitDir, 'modules');
  const modules: Found[] = [];
  const waiting = [{ path: root, name: '.git/modules', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, name, depth } = next;
    if (depth > limits.depth || modules.length > limits.nested)
      throw new Doubt('there are too many submodules');
    if (depth > 0 && isGitDirectory(path)) {
      if (used.has(path)) continue;
      const repository: Repository = {
        tree: null,
        gitDir: path,
        commonDir: path,
        kind: 'submodule',
        needsWorktreeSetting: false,
      };
      const leads = look(join(path, 'commondir')) !== null;
      modules.push({
        name,
        kind: 'submodule',
        repository: leads ? null : repository,
        problem: leads ? 'it leads outside (commondir)' : null,
      });
      continue;
    }
    for (const entry of list(path) ?? []) {
      const full = below(path, entry.name);
      if (entry.isSymbolicLink()) throw new Doubt('a submodule is a symbolic link');
      if (entry.isDirectory())
        waiting.push({ path: full.toString(), name: `${name}/${entry.name}`, depth: depth + 1 });
    }
  }
  return modules;
}

/**
 * Files in the place of a submodule that has no repository there: git looks at none of them.
 * @throws Doubt where nobody may look
 */
export function strayFiles(tree: string, index: Index, found: readonly Found[]): FileEvidence[] {
  const repositories = new Set(found.map(({ name }) => name));
  return index.special
    .filter(({ mode, path }) => mode === GITLINK && !repositories.has(path))
    .filter(({ path }) => {
      const place = below(tree, path);
      return look(place)?.isDirectory() === true && entriesOf(place).some(({ name }) => name !== '.git');
    })
    .map(({ path }) => ({ status: '??', ...fileName(`${path}/`) }));
}

/** A submodule on another commit than the index says, where the index was told not to look. */
export function hiddenGitlinks(index: Index, heads: ReadonlyMap<string, string | null>): FileEvidence[] {
  return index.special
    .filter(({ mode, assumeUnchanged, path }) => mode === GITLINK && assumeUnchanged && heads.has(path))
    .filter(({ path, id }) => heads.get(path) !== id)
    .map(({ path }) => ({ status: ' M', ...fileName(path), hidden: 'assume_unchanged' }));
}

/** Whether a nested tree uses the same repository as the one around it. */
export function sharesRepository(outer: Repository, inner: Repository): boolean {
  return outer.commonDir === inner.commonDir;
}

/** Where what goes with a tree lies. */
export function goesWith(repository: Repository): string[] {
  const places = [repository.tree, repository.gitDir, repository.commonDir].flatMap((place) =>
    place === null ? [] : [canonical(place) ?? place],
  );
  return places.filter(
    (place, at) => !places.some((other, position) => position < at && isInside(place, other)),
  );
}

/** Only to tell a submodule from a gitlink nobody declared. */
function submodulePaths(tree: string): Set<string> {
  const read = readRegular(join(tree, '.gitmodules'), GITMODULES_BYTES);
  const text = read?.bytes.toString('latin1') ?? '';
  return new Set(
    [...text.matchAll(/^[ \t]*path[ \t]*=[ \t]*"?(.+?)"?[ \t]*$/gm)].map((match) => match[1] ?? ''),
  );
}
