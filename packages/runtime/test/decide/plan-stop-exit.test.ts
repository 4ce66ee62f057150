import { describe, expect, test } from '@jest/globals';
import { planStopAndExit } from '../../src/decide/index.ts';
import type { InstanceFacts, IsolatedMountFact } from '../../src/index.ts';
import { answers, CALL, factsOf, RUNNING } from './fixtures.ts';

const observation = { container: RUNNING };
const alive = factsOf('standalone', { observation, capsule: answers(true) });
const tree = (verdict: IsolatedMountFact['verdict']): InstanceFacts['isolated'] => [
  { mount_dst: '/w', kind: 'worktree', path: '/data/w', verdict, reason: 'as seen' },
];
const whole = (facts: InstanceFacts, value: 'ask' | 'keep' | 'clean', canAsk = false) =>
  planStopAndExit({ ...CALL, facts, policy: { value, source: 'flag' }, canAsk });
const ops = (facts: InstanceFacts, value: 'ask' | 'keep' | 'clean', canAsk = false) =>
  whole(facts, value, canAsk).steps.map(({ op }) => op);

const STOP = ['stop_container', 'end_leftovers'];
const CLEAN = [
  'record_status',
  'remove_container',
  'remove_data_dir',
  'remove_socket_dir',
  'remove_lock',
  'remove_index_row',
];

describe('the whole of a stop', () => {
  test('ends the agent first and then cleans up or keeps, as the policy says', () => {
    expect(ops(alive, 'clean')).toEqual([...STOP, ...CLEAN]);
    expect(ops(alive, 'ask')).toEqual([...STOP, ...CLEAN]);
    expect(ops(alive, 'keep')).toEqual([...STOP, 'record_status', 'remove_container']);
  });

  test('numbers its steps and asks for the container to be at rest after the stop', () => {
    const { steps, kind } = whole(alive, 'clean');
    expect(kind).toBe('stop');
    expect(steps.map(({ id }) => id.slice(0, 2))).toEqual(['01', '02', '03', '04', '05', '06', '07', '08']);
    expect(steps[0]?.requires).toContainEqual({ fact: 'container', in: ['running', 'stopped'] });
    expect(steps[2]?.requires).toContainEqual({ fact: 'container', in: ['stopped'] });
  });

  test('records our own stop as the cause, with the nonce that will be asked with', () => {
    const [, , record] = whole(alive, 'keep').steps;
    expect(record).toMatchObject({
      status: 'restore_available',
      exit_cause: {
        kind: 'jackin_stop',
        evidence: expect.arrayContaining([expect.stringContaining(CALL.nonce)]),
      },
    });
  });

  test('leaves an agent that ended by itself its own end', () => {
    const crashed = factsOf('standalone', {
      observation,
      capsule: answers(false),
      record: { code: 3 },
      heartbeat: { sessions: [] },
    });
    expect(ops(crashed, 'clean')).toEqual([...STOP, 'record_status']);
    expect(whole(crashed, 'clean').steps[2]).toMatchObject({
      status: 'crashed',
      exit_cause: { kind: 'agent_crash' },
    });
  });

  test('finishes a session that ended by itself without stopping anything', () => {
    const pending = factsOf('standalone', { record: { code: 0 }, manifest: { status: 'clean_exited' } });
    expect(ops(pending, 'clean')).toEqual(CLEAN);
    expect(ops(pending, 'keep')).toEqual(['record_status', 'remove_container']);
  });

  test('stops only where somebody will be asked, and never removes what could not be looked at', () => {
    const unfinished = { ...alive, isolated: tree('dirty') };
    expect(ops(unfinished, 'ask', true)).toEqual(STOP);
    expect(whole(unfinished, 'ask', true).summary).toContain('ask');
    expect(ops(unfinished, 'ask')).toEqual([...STOP, 'record_status', 'remove_container']);
    const unseen = { ...alive, isolated: tree('unknown') };
    expect(ops(unseen, 'clean')).toEqual([...STOP, 'record_status', 'remove_container']);
  });

  test('keeps when the clean-up could not be proven safe', () => {
    const doubtful = { ...alive, socket_dir: 'unknown' as const };
    expect(whole(doubtful, 'clean').steps[2]).toMatchObject({
      status: 'restore_available',
      keep: { intent: 'could_not_ask' },
    });
    expect(whole({ ...doubtful, isolated: tree('dirty') }, 'clean').steps[2]).toMatchObject({
      status: 'preserved_dirty',
      keep: { intent: 'could_not_ask' },
    });
    expect(whole({ ...doubtful, isolated: tree('unpushed') }, 'clean').steps[2]).toMatchObject({
      status: 'preserved_unpushed',
    });
  });

  test('has nothing to do for what was kept before', () => {
    const kept = factsOf('standalone', {
      observation: { container: { state: 'missing' } },
      record: { ended_by: 'request', nonce: 'old-nonce' },
      manifest: {
        status: 'restore_available',
        stop_request: { nonce: 'old-nonce', at: '2026-03-01T11:59:54.000Z' },
        exit_cause: { kind: 'jackin_stop', at: '2026-03-01T11:59:55.000Z', evidence: [] },
        keep: { intent: 'operator', at: '2026-03-01T11:59:56.000Z' },
        backend: { standalone: null },
      },
    });
    expect(whole(kept, 'clean').steps).toEqual([]);
  });

  test('stops the sidecar of a docker instance once and frees everything', () => {
    const docker = factsOf('docker', { observation, capsule: answers(true) });
    expect(ops(docker, 'clean')).toEqual([
      'stop_container',
      'record_status',
      'remove_container',
      'remove_sidecar',
      'remove_volume',
      'remove_network',
      'remove_data_dir',
      'remove_socket_dir',
      'remove_lock',
      'remove_index_row',
    ]);
  });
});
