import type { LockOwner } from '@jackin/core';
import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import { agentEndClass, type EndFacts, endFacts, readRecord } from './end-facts.ts';
import { evidenceOf } from './evidence.ts';
import { type AgentEnd, type Ended, judgeEnd } from './judge-end.ts';

export type Classification =
  /** The container runs. The agent has `ended` only when the capsule says that none is alive. */
  | { outcome: 'alive'; agent: 'alive' | 'ended' | 'unknown' }
  | Ended
  /** Nothing can be said, so the recorded status stays. */
  | { outcome: 'unobservable'; shown_as: 'engine unreachable' | 'other engine' | 'unknown'; reason: string }
  /** Another process works on it: left alone. */
  | { outcome: 'launching'; owner: LockOwner };

/**
 * What happened to an instance, judged by the cause table (docs/status-and-causes.md#cause-table).
 * @param now RFC 3339; used as the time of an ending only when no better time is known
 */
export function classifyExit(facts: InstanceFacts, now: string): Classification {
  const { container } = facts.observation;
  const hidden = unobservable(facts);
  if (hidden !== null) return hidden;
  if (container.state === 'running') {
    const agent = agentInContainer(facts);
    if (agent !== 'unknown' || facts.lock.state !== 'held') return { outcome: 'alive', agent };
  }
  if (facts.lock.state === 'held') return { outcome: 'launching', owner: facts.lock.owner };
  if (facts.lock.state === 'unknown') {
    return { outcome: 'unobservable', shown_as: 'unknown', reason: `lock: ${facts.lock.reason}` };
  }
  return judgeEnd(facts, endFacts(facts, now), evidenceOf(facts), now);
}

/**
 * The same judgement for an agent that ended while a client was attached: the capsule still waits for the exit
 * decision, so the container runs, and the end we saw stands in for the exit record. Where the capsule wrote one, that
 * counts: we may have seen only the shell that was open beside an agent that crashed.
 */
export function classifyAgentEnd(attached: AgentEnd, facts: InstanceFacts, now: string): Ended {
  const reading = readRecord(facts);
  const recorded = reading.state === 'ours' && reading.record.ended_by === 'agent' ? reading.record : null;
  const end = recorded ?? attached;
  const seen: EndFacts = {
    ...endFacts(facts, now),
    reach: 'observed',
    setup_failed: false,
    container: 'stopped',
    record: agentEndClass(end, facts.clean_exit_codes),
  };
  const { code, signal, oom } = attached;
  const how = signal === null ? `code ${code ?? 'not known'}` : `signal ${signal}`;
  const evidence = [`attached client: the agent ended with ${how}${oom ? ', killed for memory' : ''}`];
  if (recorded !== null && (recorded.code !== code || recorded.signal !== signal)) {
    evidence.push(...evidenceOf(facts));
  }
  return judgeEnd(facts, seen, evidence, now, end);
}

/** Whether an agent is alive in the container, asked of the capsule; nothing is alive where nothing runs. */
export function agentInContainer(facts: InstanceFacts): 'alive' | 'ended' | 'unknown' {
  const { container } = facts.observation;
  if (container.state === 'stopped' || container.state === 'missing') return 'ended';
  if (container.state !== 'running' || facts.capsule.state !== 'answers') return 'unknown';
  return facts.capsule.sessions.some((session) => session.alive) ? 'alive' : 'ended';
}

/** Missing on the engine that answered, but nobody recorded on which engine it lives. */
export function isUnprovenAbsence({
  observation,
  engine_matches: matches,
  manifest,
}: InstanceFacts): boolean {
  return (
    observation.container.state === 'missing' && matches === 'unknown' && backendOf(manifest) === 'docker'
  );
}

function unobservable(facts: InstanceFacts): Extract<Classification, { outcome: 'unobservable' }> | null {
  const { engine, observation, manifest } = facts;
  const { container } = observation;
  const answer = (shown_as: 'engine unreachable' | 'other engine' | 'unknown', reason: string) =>
    ({ outcome: 'unobservable', shown_as, reason }) as const;
  if (engine.state === 'unreachable')
    return answer('engine unreachable', `${engine.endpoint}: ${engine.reason}`);
  if (facts.engine_matches === 'no') {
    return answer(
      'other engine',
      `made on ${manifest.engine?.endpoint ?? 'another engine'}, not on ${engine.endpoint}`,
    );
  }
  if (container.state === 'unreachable') return answer('unknown', `container: ${container.reason}`);
  if (container.state === 'foreign') {
    return answer('unknown', `a container named ${container.name} without jackin's labels has its name`);
  }
  if (isUnprovenAbsence(facts)) {
    return answer('unknown', `its container is not on ${engine.endpoint}, and its engine was never recorded`);
  }
  return null;
}
