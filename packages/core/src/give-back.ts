import { toJackinError } from './errors.ts';
import type { Lock } from './lock-handle.ts';
import type { EventSink } from './ports.ts';

/** Locks of this process that are not needed any more and could not be released, by their path. */
const stuck = new Map<string, Lock>();

/**
 * Releases a lock at the end of the work under it, whatever became of that work. A lock that cannot be given back (a
 * disk that became read-only meanwhile) is told as a notice and must not hide the work's own result or failure: who
 * asks for it next in this process tries again, and when this process ends it is a dead process's and taken over.
 */
export async function giveBack(
  lock: Lock,
  events: EventSink,
  options: { remove?: boolean } = {},
): Promise<void> {
  try {
    await lock.release(options);
  } catch (thrown) {
    stuck.set(lock.path, lock);
    const { code, message } = toJackinError(thrown);
    events({ type: 'notice', level: 'warn', code, message: `${message} It is free when this jackin ends.` });
  }
}

/** Before a lock is taken: one of our own that is only stuck. @throws JackinError what still keeps it from being released */
export async function releaseStuck(path: string): Promise<void> {
  const lock = stuck.get(path);
  if (lock === undefined) return;
  await lock.release();
  stuck.delete(path);
}
