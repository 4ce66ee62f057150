import { join } from 'node:path';
import type { Operation } from '../types.ts';
import { isRealDirectory, look } from './read.ts';

const SIGNS: readonly [string, Operation][] = [
  ['rebase-merge', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/** What git is in the middle of, by the files it leaves in the tree's own git directory. @throws Doubt */
export function operationsInProgress(gitDir: string): Operation[] {
  const has = (name: string) => look(join(gitDir, name)) !== null;
  const found = new Set(SIGNS.filter(([name]) => has(name)).map(([, operation]) => operation));
  if (has('rebase-apply') && !isRealDirectory(join(gitDir, 'rebase-apply'))) found.add('rebase');
  else if (has('rebase-apply')) found.add(has('rebase-apply/applying') ? 'am' : 'rebase');
  // Between two picks of a sequence, or after one that was refused.
  if (
    isRealDirectory(join(gitDir, 'sequencer')) &&
    has('sequencer/todo') &&
    !found.has('cherry-pick') &&
    !found.has('revert')
  )
    found.add('cherry-pick');
  return [...found];
}

/** Milliseconds since somebody took the lock of the index; null when nobody holds it. @throws Doubt */
export function indexLockAgeMs(gitDir: string): number | null {
  const stats = look(join(gitDir, 'index.lock'));
  return stats === null ? null : Math.max(0, Date.now() - Number(stats.mtimeMs));
}
