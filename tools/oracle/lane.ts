import type { HistoryResult } from './history.ts';
import { startHistories } from './run.ts';
import { jackinSessions } from './session.ts';
import type { TreeKind } from './world.ts';

/** What became of a seed. */
export type Judged = HistoryResult | { seed: number; kind: TreeKind; failed: string };

/**
 * Makes the history of every seed that is sent to this process, and sends back what became of it. In a process of its
 * own: an exit takes as long as the history before it, and several are to be at work at the same time.
 */
export function serve(): void {
  const sessions = jackinSessions();
  const histories = startHistories();
  const judge = async (seed: number): Promise<Judged> => {
    const kind = seed % 2 === 0 ? 'worktree' : 'clone';
    try {
      return await histories.run(seed, { kind, ...sessions });
    } catch (error) {
      return { seed, kind, failed: error instanceof Error ? error.message : String(error) };
    }
  };
  process.on(
    'message',
    (seed: number) => void judge(seed).then((judged) => process.send?.(judged, () => {})),
  );
  process.once('disconnect', () => void histories[Symbol.asyncDispose]());
}
