import type { ExitRecord, Heartbeat } from '@jackin/capsule/protocol';
import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';

/** Beyond its grace time a stop uses force; this long after that it still explains an end without a record. */
const FORCED_STOP_TAKES_MS = 30_000;
/** For a request that was recorded without its grace time. */
const UNRECORDED_GRACE_MS = 30_000;

/** The facts about one ending in the words of the cause table (docs/status-and-causes.md#cause-table). */
export interface EndFacts {
  reach: 'observed' | 'engine_unreachable' | 'other_engine';
  setup_failed: boolean;
  container: 'stopped' | 'gone';
  record: 'agent_clean' | 'agent_oom' | 'agent_other' | 'request' | 'signal' | 'none' | 'unreadable';
  /** We asked for a stop and the session is known to have shown no sign of life long after it. */
  request_pending: boolean;
  oom_flag: boolean;
  exit_code: number | null;
  run: 'same' | 'engine_changed' | 'host_changed' | 'unknown';
}

/**
 * In: facts of an instance whose container does not run. Out: the digest the cause table is matched against.
 * @param now RFC 3339; the end was no later than this look
 */
export function endFacts(facts: InstanceFacts, now: string): EndFacts {
  const { container } = facts.observation;
  const stopped = container.state === 'stopped' ? container : null;
  return {
    reach: reach(facts),
    setup_failed: facts.manifest.status === 'failed_setup',
    container: stopped !== null || isEndedProcess(facts) ? 'stopped' : 'gone',
    record: recordClass(facts),
    request_pending: requestPending(facts, now),
    oom_flag: stopped?.oom_flag === true,
    exit_code: stopped?.exit_code ?? null,
    run: runClass(facts),
  };
}

/** What the exit record is worth. A record of another instance, an earlier run or a foreign request is none. */
type RecordReading =
  | { state: 'ours'; record: ExitRecord }
  | { state: 'ignored'; record: ExitRecord; reason: 'other instance' | 'earlier run' | 'foreign request' }
  | { state: 'none' }
  | { state: 'unreadable'; reason: string };

export function readRecord(facts: InstanceFacts): RecordReading {
  const file = facts.state_files.exit_record;
  if (file.state === 'absent') return { state: 'none' };
  if (file.state === 'unreadable') return { state: 'unreadable', reason: file.reason };
  const { record } = file;
  if (record.instance_id !== facts.instance_id) {
    return { state: 'ignored', record, reason: 'other instance' };
  }
  if (livedOnAfter(facts, record.at)) return { state: 'ignored', record, reason: 'earlier run' };
  if (record.ended_by === 'request' && !repeatsOurNonce(facts, record)) {
    return { state: 'ignored', record, reason: 'foreign request' };
  }
  return { state: 'ours', record };
}

/** The last heartbeat of this instance, or null when there is none that can be read and is ours. */
export function lastHeartbeat(facts: InstanceFacts): Heartbeat | null {
  const file = facts.state_files.heartbeat;
  if (file.state !== 'present' || file.heartbeat.instance_id !== facts.instance_id) return null;
  return file.heartbeat;
}

/**
 * A later heartbeat that shows a living agent, or a capsule that has started none yet, proves that `at` belongs to
 * an earlier run. Both times come from the instance's own clock. A capsule that waits for the exit decision goes on
 * beating with its ended sessions: that proves nothing.
 */
function livedOnAfter(facts: InstanceFacts, at: string): boolean {
  const beat = heartbeatAfter(facts, at);
  return beat !== null && (beat.sessions.length === 0 || agentAliveAfter(facts, at));
}

/** A heartbeat later than `at` shows a living agent. */
export function agentAliveAfter(facts: InstanceFacts, at: string): boolean {
  return heartbeatAfter(facts, at)?.sessions.some((session) => session.alive) ?? false;
}

/** A clean end is what the agent's registry entry calls one: a listed code, or any code for the shell. */
export function agentEndClass(
  end: { code: number | null; oom: boolean },
  cleanExitCodes: number[] | 'any',
): 'agent_clean' | 'agent_oom' | 'agent_other' {
  if (end.code !== null) {
    if (cleanExitCodes !== 'any' && cleanExitCodes.includes(end.code)) return 'agent_clean';
    if (cleanExitCodes === 'any' && (end.code === 0 || !end.oom)) return 'agent_clean';
  }
  return end.oom ? 'agent_oom' : 'agent_other';
}

function heartbeatAfter(facts: InstanceFacts, at: string): Heartbeat | null {
  const beat = lastHeartbeat(facts);
  return beat !== null && Date.parse(beat.at) > Date.parse(at) ? beat : null;
}

function recordClass(facts: InstanceFacts): EndFacts['record'] {
  const reading = readRecord(facts);
  if (reading.state === 'unreadable') return 'unreadable';
  if (reading.state !== 'ours') return 'none';
  const { record } = reading;
  return record.ended_by === 'agent' ? agentEndClass(record, facts.clean_exit_codes) : record.ended_by;
}

function repeatsOurNonce(facts: InstanceFacts, record: ExitRecord): boolean {
  const asked = facts.manifest.stop_request;
  return asked !== undefined && record.nonce === asked.nonce;
}

/**
 * The last heartbeat tells how long the session lived on. Without one that can be read, only an end that is known to
 * lie close to the request is explained by it: the time of the capsule's record, else that of this look.
 */
function requestPending(facts: InstanceFacts, now: string): boolean {
  const asked = facts.manifest.stop_request;
  if (asked === undefined) return false;
  const beat = Date.parse(lastHeartbeat(facts)?.at ?? '');
  if (!Number.isNaN(beat)) return beat <= explainsUntilMs(asked);
  const reading = readRecord(facts);
  const ended = Date.parse(reading.state === 'ours' ? reading.record.at : now);
  return ended >= Date.parse(asked.at) && ended <= explainsUntilMs(asked);
}

/** By then a session that lives on was not ended by this request. NaN when its time cannot be read. */
export function explainsUntilMs(asked: NonNullable<InstanceFacts['manifest']['stop_request']>): number {
  const graceMs = typeof asked.grace_ms === 'number' ? asked.grace_ms : UNRECORDED_GRACE_MS;
  return Date.parse(asked.at) + graceMs + FORCED_STOP_TAKES_MS;
}

function reach(facts: InstanceFacts): EndFacts['reach'] {
  if (facts.engine.state === 'unreachable') return 'engine_unreachable';
  return facts.engine_matches === 'no' ? 'other_engine' : 'observed';
}

/**
 * The engine run decides, the boot id comes second: an unchanged boot does not exclude an engine that restarted.
 * For a standalone instance the boot is the run.
 */
function runClass(facts: InstanceFacts): EndFacts['run'] {
  if (facts.boot === 'changed') return 'host_changed';
  if (backendOf(facts.manifest) === 'standalone') {
    if (facts.engine_run === 'changed') return 'host_changed';
    return facts.boot === 'same' || facts.engine_run === 'same' ? 'same' : 'unknown';
  }
  if (facts.engine_run === 'changed') return 'engine_changed';
  return facts.engine_run;
}

/** A standalone capsule that was started once and is gone has ended; there is no container that could be missing. */
function isEndedProcess(facts: InstanceFacts): boolean {
  const { manifest, observation } = facts;
  return (
    observation.container.state === 'missing' &&
    backendOf(manifest) === 'standalone' &&
    (manifest.backend?.standalone ?? null) !== null
  );
}
