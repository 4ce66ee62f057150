import type { ExitCause } from './manifest.ts';
import type { CauseKind } from './status.ts';

/**
 * How much the evidence behind a cause weighs (docs/status-and-causes.md#strength): first-hand records of who
 * ended the session, then a changed engine run or boot, then what an exit code suggests, then nothing.
 */
const STRENGTH: Readonly<Record<CauseKind, number>> = {
  clean: 4,
  jackin_stop: 4,
  agent_crash: 4,
  oom: 4,
  setup_failed: 4,
  engine_restart: 3,
  host_restart: 3,
  stopped_by_other: 2,
  killed: 2,
  capsule_crash: 2,
  unknown: 1,
};

/** Higher is stronger. */
export function causeStrength(kind: CauseKind): number {
  return STRENGTH[kind];
}

/**
 * The cause to record when an ending that has a recorded cause is looked at again: a weaker or equal one never
 * replaces it. A replaced cause leaves its evidence behind the new one's. Looking again with the same facts
 * changes nothing, so a reconcile that repeats itself writes nothing.
 *
 * Both causes must be about the same ending: once the session was started again, `old` is null.
 */
export function mergeCause(old: ExitCause | null | undefined, next: ExitCause): ExitCause {
  if (old === null || old === undefined) return next;
  if (STRENGTH[next.kind] > STRENGTH[old.kind]) {
    const earlier = old.evidence.filter((line) => !next.evidence.includes(line));
    return { ...next, evidence: [...next.evidence, ...earlier] };
  }
  const addsCode = next.kind === old.kind && old.exit_code == null && next.exit_code != null;
  return addsCode ? { ...old, exit_code: next.exit_code } : old;
}
