import { describe, expect, test } from '@jest/globals';
import { describeInstance } from '../../src/decide/index.ts';
import {
  answers,
  BASE,
  causeOf,
  ENDED,
  type FactChange,
  factsOf,
  NOW,
  OWNER,
  RUNNING,
  STARTED,
} from './fixtures.ts';

const GONE = { container: { state: 'missing' } } as const;

describe('the description of an instance', () => {
  const of = (change: FactChange) => describeInstance(factsOf('docker', change), NOW);

  test('of a running one has no cause and says that its agent is alive', () => {
    expect(of({ observation: { container: RUNNING }, capsule: answers(true) })).toMatchObject({
      status: 'running',
      cause: null,
      container: 'running',
      since: STARTED,
      agent_alive: 'yes',
      exit_pending: false,
    });
  });

  test('of a crashed one names cause, evidence and time although its record still says running', () => {
    const seen = of({ record: { code: 3 } });
    expect(seen).toMatchObject({ status: 'crashed', cause: 'agent_crash', since: ENDED, agent_alive: 'no' });
    expect(seen.evidence[0]).toContain('exit record: ended by agent, code 3');
  });

  test.each([
    ['engine unreachable', { engine: { state: 'unreachable', endpoint: 'x', reason: 'down' } }],
    ['other engine', { engine_matches: 'no', observation: GONE }],
    ['foreign', { observation: { container: { state: 'foreign', name: BASE } } }],
    ['unknown', { observation: { container: { state: 'unreachable', reason: '500' } } }],
    ['missing', { lock: { state: 'held', owner: OWNER }, observation: GONE }],
  ] as [string, FactChange][])('shows %s and keeps status and cause as recorded', (shown, change) => {
    const exit_cause = causeOf('oom', { evidence: ['code 137'] });
    const seen = of({ manifest: { status: 'crashed', exit_cause }, ...change });
    expect(seen).toMatchObject({ container: shown, status: 'crashed', cause: 'oom', agent_alive: 'unknown' });
    expect(seen.evidence).toContain('code 137');
    expect(seen.evidence.length).toBe(2);
  });

  test('of a launch in another process says that it is launching', () => {
    const lock = { state: 'held', owner: OWNER } as const;
    const seen = of({ manifest: { status: 'active' }, lock, observation: GONE });
    expect(seen).toMatchObject({ container: 'launching', status: 'active', agent_alive: 'unknown' });
    expect(seen.evidence).toEqual(['in use by process 99 on here: load']);
  });

  test('does not call the agent dead while something outlived its capsule', () => {
    const facts = factsOf('standalone', { observation: { leftover_pids: [9] } });
    expect(describeInstance(facts, NOW).agent_alive).toBe('unknown');
  });
});
