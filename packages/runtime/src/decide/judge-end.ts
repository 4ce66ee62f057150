import { constants } from 'node:os';
import {
  type CauseKind,
  type ExitCause,
  isLegalTransition,
  type Manifest,
  mergeCause,
  type Status,
} from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import { CAUSE_TABLE, type CauseRow } from './cause-table.ts';
import { agentAliveAfter, type EndFacts, lastHeartbeat, readRecord } from './end-facts.ts';
import { FINAL_STATUSES, KEPT_STATUSES, keptStatus } from './instance-kind.ts';

export type Ended = {
  outcome: 'ended';
  /** The agent ended by itself with a clean code, or followed our own stop. */
  clean: boolean;
  status: Status;
  cause: ExitCause | null;
  /** A clean end whose exit flow has not run yet. */
  exit_flow: boolean;
  last_attach_outcome: string | null;
};

/** How the agent of a session ended while we were attached to it. */
export interface AgentEnd {
  code: number | null;
  signal: string | null;
  oom: boolean;
}

/**
 * Status and cause of one ending from the line of the cause table that fits, against what is recorded already: a
 * recorded cause gives way only to a stronger one, and a decision to keep outlives every later look.
 * @param seen the end an attached client saw; what was recorded before that session is void then
 */
export function judgeEnd(
  facts: InstanceFacts,
  end: EndFacts,
  evidence: string[],
  now: string,
  seen?: AgentEnd,
): Ended {
  const { manifest } = facts;
  const outcome = manifest.last_attach_outcome ?? null;
  if (FINAL_STATUSES.has(manifest.status)) return standing(manifest, manifest.exit_cause ?? null);
  const row = causeRow(end);
  const recorded = seen === undefined ? recordedCause(facts) : null;
  const cause = strongerCause(recorded, newCause(facts, end, row, evidence, now, seen));
  const status = statusAfter(facts, row, cause?.kind ?? null, seen !== undefined);
  if (!isLegalTransition(manifest.status, status)) return standing(manifest, recorded);
  const clean = cause?.kind === 'clean' || cause?.kind === 'jackin_stop';
  return {
    outcome: 'ended',
    clean,
    status,
    cause,
    exit_flow: clean && status === 'clean_exited',
    last_attach_outcome: attachOutcome(facts, end, seen) ?? outcome,
  };
}

/** What another version recorded without a cause is not replaced by worse evidence: the record stands. */
function standing(manifest: Manifest, cause: ExitCause | null): Ended {
  const { status, last_attach_outcome: outcome } = manifest;
  return {
    outcome: 'ended',
    clean: false,
    status,
    cause,
    exit_flow: false,
    last_attach_outcome: outcome ?? null,
  };
}

/** The line of the table that fits. The last line fits everything. */
function causeRow(end: EndFacts): CauseRow {
  const row = CAUSE_TABLE.find((candidate) => candidate.matches(end));
  if (row === undefined) throw new Error('the cause table has no line for these facts');
  return row;
}

/** The recorded cause, when it is about this ending: an agent seen alive after it had another one. */
function recordedCause(facts: InstanceFacts): ExitCause | null {
  const { status, exit_cause: recorded } = facts.manifest;
  if (recorded === undefined || status === 'running') return null;
  return agentAliveAfter(facts, recorded.at) ? null : recorded;
}

function newCause(
  facts: InstanceFacts,
  end: EndFacts,
  row: CauseRow,
  evidence: string[],
  now: string,
  seen: AgentEnd | undefined,
): ExitCause | null {
  if (row.id === 'setup_failed') return null;
  // A container that is gone has no cause of its own; the capsule's own record still tells why the session ended.
  const telling = row.id === 'container_gone' ? recordedByCapsule(end) : row;
  if (telling === null || telling.cause === null) return null;
  const reading = readRecord(facts);
  const record = reading.state === 'ours' ? reading.record : null;
  const code = seen !== undefined ? seen.code : record?.ended_by === 'agent' ? record.code : end.exit_code;
  const doubt = telling.status === 'host_lost' ? ['may have been stopped earlier'] : [];
  return {
    kind: telling.cause,
    exit_code: code,
    at: seen !== undefined ? now : endTime(facts, record?.at, now),
    evidence: [...evidence, ...doubt],
  };
}

function recordedByCapsule(end: EndFacts): CauseRow | null {
  const row = causeRow({ ...end, container: 'stopped', request_pending: false, oom_flag: false });
  return end.record.startsWith('agent') || end.record === 'request' ? row : null;
}

/** What was found out under the engine run the session ended in is not reopened by a later restart. */
const SAME_RUN_CAUSES: ReadonlySet<CauseKind> = new Set<CauseKind>([
  'stopped_by_other',
  'killed',
  'capsule_crash',
]);
const HOST_CAUSES: ReadonlySet<CauseKind> = new Set<CauseKind>(['engine_restart', 'host_restart']);

function strongerCause(recorded: ExitCause | null, next: ExitCause | null): ExitCause | null {
  if (next === null) return recorded;
  if (recorded !== null && SAME_RUN_CAUSES.has(recorded.kind) && HOST_CAUSES.has(next.kind)) return recorded;
  return mergeCause(recorded, next);
}

function statusAfter(facts: InstanceFacts, row: CauseRow, cause: CauseKind | null, seen: boolean): Status {
  const { manifest, isolated } = facts;
  if (row.id === 'setup_failed') return 'failed_setup';
  if (!seen && KEPT_STATUSES.has(manifest.status)) return manifest.status;
  if (!seen && manifest.keep !== undefined && !agentAliveAfter(facts, manifest.keep.at)) {
    return keptStatus(isolated);
  }
  if (row.id === 'container_gone' || cause === null) return 'restore_available';
  return CAUSE_TABLE.find((candidate) => candidate.cause === cause)?.status ?? 'stopped';
}

/** The best known time of the end: the record's, else the last sign of life, never later than `now`. */
function endTime(facts: InstanceFacts, recordAt: string | undefined, now: string): string {
  const known = [recordAt, lastHeartbeat(facts)?.at, facts.manifest.last_seen?.at];
  const usable = (at: string | undefined): at is string =>
    at !== undefined && Date.parse(at) <= Date.parse(now);
  const best = known.find(usable);
  return best === undefined ? now : new Date(best).toISOString();
}

function attachOutcome(facts: InstanceFacts, end: EndFacts, seen: AgentEnd | undefined): string | null {
  const reading = readRecord(facts);
  const agent =
    seen ?? (reading.state === 'ours' && reading.record.ended_by === 'agent' ? reading.record : null);
  if (end.record === 'agent_oom') return 'oom_killed';
  if (agent === null) return end.exit_code === null ? null : `exit:${end.exit_code}`;
  if (agent.code !== null) return `exit:${agent.code}`;
  const number = agent.signal === null ? undefined : constants.signals[agent.signal as NodeJS.Signals];
  return number === undefined ? null : `exit:${128 + number}`;
}
