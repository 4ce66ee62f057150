import { type Clock, type EventSink, JackinError, type ProcessIdentity, processState } from '@jackin/core';
import type { CapsuleProcess } from './find-capsule.ts';

/** A capsule that was asked over its socket is about to go; it gets this long before it is sent a signal. */
const SETTLE_MS = 1_000;
const LEFTOVER_GRACE_MS = 2_000;
/** A killed process is gone as soon as the kernel gets to it; one in an uninterruptible call may take longer. */
const KILL_MS = 10_000;
const POLL_MS = 20;
/** A process that forks while it is being ended is looked for again, but not for ever. */
const ROUNDS = 5;

interface Bounds {
  base: string;
  signal: AbortSignal;
  clock: Clock;
  events: EventSink;
}

/**
 * Ends a living capsule: its own exit, then SIGTERM with `graceMs` to react, then SIGKILL. Every signal goes to a
 * process whose start time was verified just before. Throws INSTANCE_UNOBSERVABLE, STOP_FAILED.
 */
export async function stopCapsule(
  found: CapsuleProcess,
  options: Bounds & { graceMs: number },
): Promise<void> {
  const { base } = options;
  if (found.state === 'unknown') throw unobservable(base, found.reason);
  if (found.state === 'gone') return;
  const { identity } = found;
  if (await goneWithin(identity, Math.min(SETTLE_MS, options.graceMs), options)) return;
  await send(identity, 'SIGTERM', options);
  if (await goneWithin(identity, options.graceMs, options)) return;
  await send(identity, 'SIGKILL', options);
  if (await goneWithin(identity, KILL_MS, options)) return;
  throw stopFailed(base, [identity]);
}

/**
 * Ends what outlived the capsule, looking again until nothing is left. Returns the pids that were ended.
 * Throws INSTANCE_UNOBSERVABLE, STOP_FAILED.
 */
export async function endProcesses(look: () => Promise<CapsuleProcess>, options: Bounds): Promise<number[]> {
  const ended = new Set<number>();
  for (let round = 0; ; round++) {
    const found = await look();
    if (found.state === 'unknown') throw unobservable(options.base, found.reason);
    const leftovers = found.state === 'gone' ? found.leftovers : [];
    if (leftovers.length === 0) return [...ended];
    if (round === ROUNDS) throw stopFailed(options.base, leftovers);
    for (const { pid } of leftovers) ended.add(pid);
    await endAll(leftovers, options);
  }
}

/** The error of every call that must know whether processes live and cannot see it. */
export function unobservable(base: string, reason: string): JackinError {
  return new JackinError({
    code: 'INSTANCE_UNOBSERVABLE',
    message: `Whether ${base} still runs cannot be seen: ${reason}`,
    hint: 'Run `jackin doctor`, then the same command again.',
  });
}

async function endAll(found: ProcessIdentity[], options: Bounds): Promise<void> {
  await Promise.all(found.map((identity) => send(identity, 'SIGTERM', options)));
  const gone = await Promise.all(found.map((identity) => goneWithin(identity, LEFTOVER_GRACE_MS, options)));
  const stubborn = found.filter((_, index) => !gone[index]);
  await Promise.all(stubborn.map((identity) => send(identity, 'SIGKILL', options)));
  await Promise.all(stubborn.map((identity) => goneWithin(identity, KILL_MS, options)));
}

/** Nobody reports the end of a process that is not our child, so it is looked at until then. */
async function goneWithin(
  identity: ProcessIdentity,
  ms: number,
  { signal, clock }: Bounds,
): Promise<boolean> {
  const until = clock.monotonicMs() + ms;
  for (;;) {
    if ((await processState(identity)) === 'dead') return true;
    if (clock.monotonicMs() >= until) return false;
    await clock.sleep(POLL_MS, signal);
  }
}

async function send(identity: ProcessIdentity, signal: NodeJS.Signals, options: Bounds): Promise<void> {
  if ((await processState(identity)) !== 'alive') return;
  const { base, events } = options;
  events({ type: 'debug', message: `${signal} to a process of ${base}`, fields: { pid: identity.pid } });
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function stopFailed(base: string, processes: ProcessIdentity[]): JackinError {
  const pids = processes.map(({ pid }) => pid);
  return new JackinError({
    code: 'STOP_FAILED',
    message: `Processes of ${base} did not end: ${pids.join(', ')}`,
    hint: `Look at them with \`ps -fp ${pids.join(',')}\`, then run the same command again.`,
    details: { pids },
  });
}
