import { assessExit } from '../../oracle/assess-exit.ts';
import type { HistoryResult } from '../../oracle/history.ts';
import { startHistories } from '../../oracle/run.ts';

/** Histories of these seeds, worktrees and clones in turns, and the exit under test on each. */
export async function fuzz(seeds: readonly number[]): Promise<HistoryResult[]> {
  await using runner = startHistories();
  const results: HistoryResult[] = [];
  for (const seed of seeds) {
    results.push(await runner.run(seed, { kind: seed % 2 === 0 ? 'worktree' : 'clone', exit: assessExit }));
  }
  return results;
}

/** What went wrong, with all it takes to see it again: `npm run fuzz:exit -- --histories 1 --seed N`. */
export function faults(results: readonly HistoryResult[]): unknown[] {
  return results
    .filter(({ losses }) => losses.length > 0)
    .map(({ seed, kind, kept, losses, steps }) => ({ seed, kind, kept, losses, steps }));
}
