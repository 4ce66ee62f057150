import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessIdentity, processState } from '@jackin/core';

const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 20;

/**
 * Kills the processes `find` names until it names none, because one that is being ended may just have started
 * another. Returns those that withstood for 10 seconds.
 */
export async function endAll(find: () => Promise<ProcessIdentity[]>): Promise<ProcessIdentity[]> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  let alive = await find();
  while (alive.length > 0 && performance.now() < deadlineMs) {
    for (const identity of alive) kill(identity);
    await allGone(alive, deadlineMs);
    alive = await find();
  }
  return alive;
}

/** Sends SIGKILL; a process that is gone already is fine. */
export function kill({ pid }: ProcessIdentity): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves with true once every process is dead, with false at the deadline (of `performance.now()`). */
export async function allGone(processes: ProcessIdentity[], deadlineMs: number): Promise<boolean> {
  // They are no children of ours: the kernel offers nothing to wait on, so their state is looked at.
  for (;;) {
    const states = await Promise.all(processes.map((identity) => processState(identity)));
    if (states.every((state) => state === 'dead')) return true;
    if (performance.now() > deadlineMs) return false;
    await sleep(LOOK_AGAIN_MS);
  }
}
