import { basename, dirname, join } from 'node:path';
import type { PathView } from '../types.ts';
import { Doubt } from './doubt.ts';
import { meanings, pathIn, type Repository } from './git-directory.ts';
import { printable } from './names.ts';
import { canonical, isInside, list, look } from './read.ts';

/**
 * Worktrees that an agent added to the repository of a session's tree and that would go with the session, or lose their
 * repository with it, though they lie outside of the tree and are not looked at.
 * @param root the data directory of the instance
 * @throws Doubt naming the first
 */
export function refuseStrayWorktrees(
  { tree, gitDir, commonDir }: Repository,
  { root, views }: { root: string; views: readonly PathView[] },
): void {
  const home = canonical(root) ?? root;
  const directory = join(commonDir, 'worktrees');
  for (const { name } of list(directory) ?? []) {
    const registration = join(directory, name);
    if (registration === gitDir || look(registration)?.isDirectory() !== true) continue;
    const named = pathIn(join(registration, 'gitdir'));
    if (named === null || basename(named) !== '.git') continue;
    const places = meanings(named, registration, views).map((path) => dirname(path));
    if (places.some((place) => tree !== null && isInside(canonical(place) ?? place, tree))) continue;
    const within = places.filter((place) => isInside(canonical(place) ?? place, home));
    // The trees of the instance are recorded, or found by whoever looks for what is not.
    if (within.some((place) => isInside(canonical(place) ?? place, join(home, 'git')))) continue;
    const there = within.some((place) => look(place) !== null);
    // That of a clone goes with it; whether one is there that a container names cannot be seen.
    const unseen = gitDir === commonDir && within.length === 0;
    if (there || unseen)
      throw new Doubt(`a worktree of it lies outside of the tree: ${printable(dirname(named))}`);
  }
}
