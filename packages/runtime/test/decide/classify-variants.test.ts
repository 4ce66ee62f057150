import { describe, expect, test } from '@jest/globals';
import { classifyAgentEnd, classifyExit } from '../../src/decide/index.ts';
import {
  answers,
  container,
  ENDED,
  type FactChange,
  factsOf,
  LAST_BEAT,
  NOW,
  OWNER,
  RUNNING,
  STARTED,
} from './fixtures.ts';

const look = (backend: 'docker' | 'standalone', change: FactChange) =>
  classifyExit(factsOf(backend, change), NOW);
const GONE = { container: { state: 'missing' } } as const;

describe('a running container', () => {
  test('runs with a living agent when the capsule says so', () => {
    const seen = look('docker', { observation: { container: RUNNING }, capsule: answers(false, true) });
    expect(seen).toEqual({ outcome: 'alive', agent: 'alive' });
  });

  test('has no living agent only when the capsule says so', () => {
    const ended = look('docker', { observation: { container: RUNNING }, capsule: answers(false) });
    const silent = look('docker', { observation: { container: RUNNING } });
    expect([ended, silent]).toEqual([
      { outcome: 'alive', agent: 'ended' },
      { outcome: 'alive', agent: 'unknown' },
    ]);
  });

  test('with a silent capsule and a held lock is being started by the owner of the lock', () => {
    const seen = look('docker', {
      observation: { container: RUNNING },
      lock: { state: 'held', owner: OWNER },
    });
    expect(seen).toEqual({ outcome: 'launching', owner: OWNER });
  });
});

describe('what cannot be told', () => {
  test('an instance whose lock another process holds is left to it, container or not', () => {
    const lock = { state: 'held', owner: OWNER } as const;
    for (const observation of [GONE, { container: container({ exit_code: 0 }) }]) {
      expect(look('docker', { manifest: { status: 'active' }, lock, observation })).toEqual({
        outcome: 'launching',
        owner: OWNER,
      });
    }
  });

  test('a lock that cannot be read makes an end unobservable', () => {
    const seen = look('standalone', { lock: { state: 'unknown', reason: 'owned on other-host' } });
    expect(seen).toMatchObject({
      outcome: 'unobservable',
      shown_as: 'unknown',
      reason: 'lock: owned on other-host',
    });
  });

  test('a foreign container of the same name proves nothing about ours', () => {
    const seen = look('docker', { observation: { container: { state: 'foreign', name: 'jk-x' } } });
    expect(seen).toMatchObject({ outcome: 'unobservable', shown_as: 'unknown' });
  });

  test('a container missing on an engine that was never recorded is not gone', () => {
    const seen = look('docker', { engine_matches: 'unknown', observation: GONE });
    expect(seen).toMatchObject({ outcome: 'unobservable', shown_as: 'unknown' });
  });

  test('a container found by its labels is observed although its engine was never recorded', () => {
    const seen = look('docker', { engine_matches: 'unknown', record: { code: 3 } });
    expect(seen).toMatchObject({ outcome: 'ended', status: 'crashed' });
  });
});

describe('an exit record that is not about this end', () => {
  const CLEAN = { code: 0, at: '2026-03-01T10:00:00.000Z' };

  test('is ignored when an agent was alive after it', () => {
    const seen = look('standalone', { record: CLEAN });
    expect(seen).toMatchObject({ status: 'crashed', cause: { kind: 'capsule_crash' } });
    expect(JSON.stringify(seen)).toContain('ignored (earlier run)');
  });

  test('is ignored when a later capsule had not started an agent yet', () => {
    const seen = look('standalone', { record: CLEAN, heartbeat: { sessions: [] } });
    expect(seen).toMatchObject({ cause: { kind: 'capsule_crash' } });
  });

  test('counts while the capsule went on beating for the exit decision', () => {
    const waiting = [{ session_id: 's1', agent: 'claude', alive: false, pid: null }];
    const seen = look('standalone', { record: CLEAN, heartbeat: { sessions: waiting } });
    expect(seen).toMatchObject({ status: 'clean_exited', exit_flow: true });
  });

  test('is ignored when it names another instance', () => {
    const seen = look('standalone', { record: { code: 0, instance_id: 'zzzzzzzz' } });
    expect(seen).toMatchObject({ clean: false, cause: { kind: 'capsule_crash' } });
  });

  test('is ignored when it repeats a nonce that is not ours', () => {
    const forged = { ended_by: 'request', nonce: 'not-ours-1' } as const;
    const seen = look('standalone', { record: forged });
    expect(seen).toMatchObject({ clean: false, cause: { kind: 'capsule_crash' } });
    expect(JSON.stringify(seen)).toContain('ignored (foreign request)');
  });

  test('does not bring control characters to the terminal', () => {
    const seen = look('standalone', { record: { signal: '\u001b]0;owned\u0007' } });
    expect(JSON.stringify(seen)).not.toMatch(/\\u001b|\\u0007/);
  });
});

describe('a stop request without a record', () => {
  test('explains nothing once the session lived on long after it', () => {
    const stop_request = { nonce: 'ours-1234', at: STARTED, grace_ms: 10_000 };
    const seen = look('standalone', { manifest: { stop_request } });
    expect(seen).toMatchObject({ clean: false, cause: { kind: 'capsule_crash' } });
  });

  const unreadable = [
    ['missing', 'absent'],
    ['unreadable', 'unreadable'],
    ['without a time', { at: 'long ago' }],
  ] as [string, NonNullable<FactChange['heartbeat']>][];

  test.each(unreadable)('that is old explains nothing when the heartbeat is %s', (_title, heartbeat) => {
    const stop_request = { nonce: 'ours-1234', at: STARTED, grace_ms: 10_000 };
    const seen = look('standalone', { manifest: { stop_request }, heartbeat });
    expect(seen).toMatchObject({ clean: false, cause: { kind: 'capsule_crash' } });
  });

  test.each(unreadable)('explains an end close to it when the heartbeat is %s', (_title, heartbeat) => {
    const stop_request = { nonce: 'ours-1234', at: ENDED, grace_ms: 10_000 };
    const seen = look('standalone', { manifest: { stop_request }, heartbeat });
    expect(seen).toMatchObject({ clean: true, cause: { kind: 'jackin_stop' } });
  });

  test('does not explain an end after which the host restarted', () => {
    const stop_request = { nonce: 'ours-1234', at: ENDED };
    const seen = look('standalone', { manifest: { stop_request }, boot: 'changed' });
    expect(seen).toMatchObject({ clean: false, status: 'host_lost' });
  });
});

describe('an agent that ended in front of us', () => {
  const attached = factsOf('docker', { observation: { container: RUNNING }, capsule: answers(false) });

  test.each([
    [{ code: 0, signal: null, oom: false }, 'clean_exited', 'clean', 'exit:0'],
    [{ code: 3, signal: null, oom: false }, 'crashed', 'agent_crash', 'exit:3'],
    [{ code: null, signal: 'SIGTERM', oom: false }, 'crashed', 'agent_crash', 'exit:143'],
    [{ code: null, signal: 'SIGKILL', oom: true }, 'crashed', 'oom', 'oom_killed'],
  ])('is judged by what we saw: %j', (end, status, kind, outcome) => {
    const seen = classifyAgentEnd(end, attached, NOW);
    expect(seen).toMatchObject({ status, cause: { kind, at: NOW }, last_attach_outcome: outcome });
    expect(seen.exit_flow).toBe(status === 'clean_exited');
    expect(seen.cause?.evidence[0]).toContain('attached client: the agent ended with');
  });
});

test('an agent that crashed is not hidden by the shell somebody left last', () => {
  const facts = factsOf('standalone', {
    observation: { container: RUNNING },
    record: { code: 1, agent: 'codex' },
    capsule: answers(false),
  });
  const seen = classifyAgentEnd({ code: 0, signal: null, oom: false }, facts, NOW);
  expect(seen).toMatchObject({ status: 'crashed', clean: false, last_attach_outcome: 'exit:1' });
});

test('the end is dated by the record, else by the last sign of life, never in the future', () => {
  const at = (change: FactChange) => {
    const seen = look('standalone', change);
    return seen.outcome === 'ended' ? seen.cause?.at : undefined;
  };
  expect(at({ record: { code: 3 } })).toBe(ENDED);
  expect(at({})).toBe(LAST_BEAT);
  expect(at({ heartbeat: { at: '2030-01-01T00:00:00.000Z' }, manifest: { last_seen: undefined } })).toBe(NOW);
});
