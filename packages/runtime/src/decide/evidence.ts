import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import { lastHeartbeat, readRecord } from './end-facts.ts';

/**
 * The facts an ending was judged by, one line each, in the order of their weight. Text that came from inside the
 * container is cut and stripped of control characters: it ends up on the operator's terminal.
 */
export function evidenceOf(facts: InstanceFacts): string[] {
  return [
    ...stopRequestLines(facts),
    ...recordLines(facts),
    ...containerLines(facts),
    runLine(facts),
    bootLine(facts),
    heartbeatLine(facts),
  ];
}

/** Untrusted text as one printable line of at most 80 characters. */
export function printable(text: string): string {
  const line = [...text].map((char) => (isControl(char) ? '?' : char)).join('');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function stopRequestLines(facts: InstanceFacts): string[] {
  const asked = facts.manifest.stop_request;
  return asked === undefined ? [] : [`stop request: ${asked.nonce} at ${asked.at}`];
}

function recordLines(facts: InstanceFacts): string[] {
  const reading = readRecord(facts);
  if (reading.state === 'none') return ['exit record: none'];
  if (reading.state === 'unreadable') return [`exit record: unreadable (${printable(reading.reason)})`];
  const { record } = reading;
  const code = record.code === null ? '' : `, code ${record.code}`;
  const by = record.signal ?? record.capsule_signal ?? null;
  const signal = by === null ? '' : `, signal ${printable(by)}`;
  const nonce = record.nonce === undefined ? '' : `, nonce ${printable(record.nonce)}`;
  const line = `exit record: ended by ${record.ended_by}${code}${signal}${nonce} at ${printable(record.at)}`;
  if (reading.state === 'ignored') return [`${line}; ignored (${reading.reason})`];
  const notes = [line];
  if (record.oom) notes.push("cgroup: the agent's own group counted an OOM kill");
  if (record.oom_note) notes.push('note: a child was OOM-killed');
  return notes;
}

function containerLines(facts: InstanceFacts): string[] {
  const { container } = facts.observation;
  const word = backendOf(facts.manifest) === 'standalone' ? 'capsule process' : 'container';
  if (container.state === 'missing') return [`${word}: gone`];
  if (container.state === 'foreign') return [`${word}: a foreign one has the name ${container.name}`];
  if (container.state === 'unreachable') return [`${word}: not observable (${printable(container.reason)})`];
  if (container.state === 'running') {
    return container.oom_flag === true
      ? [`${word}: running`, 'note: the OOM flag is set on a running container'] // a child was killed
      : [`${word}: running`];
  }
  const code = container.exit_code === null ? 'exit code not observable' : `exit code ${container.exit_code}`;
  const lines = [`${word}: stopped, ${code}`];
  if (container.oom_flag === true) lines.push('engine: OOM flag set (a process was OOM-killed)');
  if (container.error !== null && container.error !== '') {
    lines.push(`engine error: ${printable(container.error)}`);
  }
  if (!container.startable.ok) lines.push(`not startable: ${printable(container.startable.reason)}`);
  return lines;
}

function runLine(facts: InstanceFacts): string {
  if (facts.engine.state === 'unreachable') return `engine: unreachable (${printable(facts.engine.reason)})`;
  if (facts.engine_matches === 'no') {
    return `engine: ${facts.engine.endpoint} is not the one the instance lives on`;
  }
  if (facts.engine_run === 'unknown') return 'engine run: cannot be told';
  if (facts.engine_run === 'same') return 'engine run: same since the last start';
  return `engine run: changed since the last start${difference(facts.manifest.engine?.run, facts.engine.run)}`;
}

function bootLine(facts: InstanceFacts): string {
  if (facts.boot === 'unknown') return 'boot id: cannot be told';
  if (facts.boot === 'same') return 'boot id: same since the last start';
  const recorded = facts.manifest.backend?.standalone?.boot_id ?? facts.manifest.last_seen?.boot_id;
  const now = facts.engine.state === 'reachable' ? facts.engine.boot_id : null;
  return `boot id: changed since the last start${difference(recorded, now)}`;
}

function heartbeatLine(facts: InstanceFacts): string {
  const file = facts.state_files.heartbeat;
  if (file.state === 'unreadable') return `heartbeat: unreadable (${printable(file.reason)})`;
  const beat = lastHeartbeat(facts);
  if (beat === null) return 'heartbeat: none';
  const alive = beat.sessions.filter((session) => session.alive).length;
  return `heartbeat: last at ${printable(beat.at)}, ${alive} of ${beat.sessions.length} sessions alive`;
}

function difference(before: string | null | undefined, now: string | null): string {
  return ` (${printable(before ?? 'not recorded')} then, ${printable(now ?? 'not known')} now)`;
}

function isControl(char: string): boolean {
  const point = char.codePointAt(0) ?? 0;
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x2028 && point <= 0x202e);
}
