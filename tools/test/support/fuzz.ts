import type { HistoryResult } from '../../oracle/history.ts';
import { startHistories } from '../../oracle/run.ts';
import { jackinSessions } from '../../oracle/session.ts';

/** Histories of these seeds, worktrees and clones in turns, each the session of a jackin that ends it. */
export async function fuzz(seeds: readonly number[]): Promise<HistoryResult[]> {
  await using runner = startHistories();
  const sessions = jackinSessions();
  const results: HistoryResult[] = [];
  for (const seed of seeds) {
    results.push(await runner.run(seed, { kind: seed % 2 === 0 ? 'worktree' : 'clone', ...sessions }));
  }
  return results;
}

/** What went wrong, with all it takes to see it again: `npm run fuzz:exit -- --histories 1 --seed N`. */
export function faults(results: readonly HistoryResult[]): unknown[] {
  return results
    .filter(({ losses }) => losses.length > 0)
    .map(({ seed, kind, kept, losses, steps }) => ({ seed, kind, kept, losses, steps }));
}
