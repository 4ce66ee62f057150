import { basename, dirname, join } from 'node:path';
import type { PathView } from '../types.ts';
import { Doubt, unlessDoubt } from './doubt.ts';
import { meanings, openRepository, pathIn, type Repository } from './git-directory.ts';
import { printable } from './names.ts';
import type { Found } from './nested.ts';
import { canonical, isInside, list, look } from './read.ts';

interface StrayOptions {
  /** The data directory of the instance. */
  root: string;
  views: readonly PathView[];
  /** Canonical directories they may use. */
  around: readonly string[];
}

/**
 * Worktrees that an agent added to the repository of a session's tree and that would go with the session, or lose their
 * repository with it, though they lie outside of the tree. Those that cannot be opened are doubts.
 * @throws Doubt where nobody may look for them
 */
export function strayWorktrees(repository: Repository, options: StrayOptions, doubts: string[]): Found[] {
  const directory = join(repository.commonDir, 'worktrees');
  return (list(directory) ?? []).flatMap(({ name }) => {
    const named = strayPlace(repository, join(directory, name), options);
    if (named === null) return [];
    const problem = `a worktree of it lies outside of the tree: ${printable(named.name)}`;
    const found = unlessDoubt(() => opened(repository, named.place, options));
    if (found === null) doubts.push(problem);
    return found ?? [];
  });
}

/** Null for a registration that is none; without a place where it is at a name of the container, or as good as there. */
function strayPlace(
  { tree, gitDir, commonDir }: Repository,
  registration: string,
  { root, views }: StrayOptions,
): { name: string; place: string | null } | null {
  const home = canonical(root) ?? root;
  if (registration === gitDir || look(registration)?.isDirectory() !== true) return null;
  const named = pathIn(join(registration, 'gitdir'));
  if (named === null || basename(named) !== '.git') return null;
  const places = meanings(named, registration, views).map((path) => dirname(path));
  if (places.some((place) => tree !== null && isInside(canonical(place) ?? place, tree))) return null;
  const within = places.filter((place) => isInside(canonical(place) ?? place, home));
  // The trees of the instance are recorded, or found by whoever looks for what is not.
  if (within.some((place) => isInside(canonical(place) ?? place, join(home, 'git')))) return null;
  const there = within.find((place) => look(place) !== null);
  // That of a clone goes with it; whether one is there that a container names cannot be seen.
  const unseen = gitDir === commonDir && within.length === 0;
  return there !== undefined || unseen ? { name: dirname(named), place: there ?? null } : null;
}

/** @throws Doubt for one that is not opened as what it was registered as */
function opened(
  { commonDir }: Repository,
  place: string | null,
  { root, views, around }: StrayOptions,
): Found {
  const path = place === null ? null : canonical(place);
  if (path === null) throw new Doubt('it cannot be seen from here');
  const repository = openRepository(path, { views, around, root: canonical(root) ?? root });
  if (repository.commonDir !== commonDir) throw new Doubt('it belongs to another repository now');
  const name = Buffer.from(path).toString('latin1');
  return { name, kind: 'worktree', repository, problem: null, stray: true };
}
