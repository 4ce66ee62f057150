import { toJackinError } from './errors.ts';
import type { Lock } from './lock-handle.ts';
import type { EventSink } from './ports.ts';

/**
 * Releases a lock at the end of the work under it, whatever became of that work. A lock that cannot be given back (a
 * disk that became read-only meanwhile) is told as a notice and must not hide the work's own result or failure: when
 * this process ends, the lock is a dead process's and is taken over at once.
 */
export async function giveBack(
  lock: Lock,
  events: EventSink,
  options: { remove?: boolean } = {},
): Promise<void> {
  try {
    await lock.release(options);
  } catch (thrown) {
    const { code, message } = toJackinError(thrown);
    events({ type: 'notice', level: 'warn', code, message: `${message} It is free when this jackin ends.` });
  }
}
