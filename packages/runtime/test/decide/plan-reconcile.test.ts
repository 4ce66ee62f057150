import { describe, expect, test } from '@jest/globals';
import { planReconcile, reconcileInstance } from '../../src/decide/index.ts';
import {
  answers,
  applied,
  CALL,
  causeOf,
  container,
  ENDED,
  type FactChange,
  factsOf,
  NOW,
  OWNER,
  RUNNING,
  STARTED,
} from './fixtures.ts';

const GONE = { container: { state: 'missing' } } as const;
const correct = (change: FactChange) => reconcileInstance({ ...CALL, facts: factsOf('docker', change) });

describe('reconcile', () => {
  const alive = { observation: { container: RUNNING }, capsule: answers(true) } satisfies FactChange;
  const now = { endpoint: 'unix:///a.sock', id: 'engine-a', run: 'run-b', boot_id: 'boot-a' };
  const inNewRun = { ...alive, engine: { state: 'reachable', ...now } } satisfies FactChange;

  test('a container that lives on in a new run of its engine is recorded in that run', () => {
    expect(correct({ ...inNewRun, engine_run: 'changed' })?.steps).toMatchObject([
      { op: 'record_status', status: 'running', seen_in: now },
    ]);
  });

  test('a running container whose engine was never recorded is recorded where it is seen', () => {
    expect(correct({ ...inNewRun, engine_run: 'unknown', engine_matches: 'unknown' })?.steps).toMatchObject([
      { op: 'record_status', status: 'running', seen_in: now },
    ]);
  });

  test.each([
    ['the same run', { ...alive, engine_run: 'same' }],
    [
      'an engine without an identity of its run',
      { ...alive, engine: { state: 'reachable', ...now, run: null }, engine_run: 'unknown' },
    ],
    ['another engine', { ...inNewRun, engine_matches: 'no', engine_run: 'changed' }],
  ] as [string, FactChange][])('a running container is not recorded again: %s', (_title, change) => {
    expect(correct(change)).toBeNull();
  });

  test('a stopped container is never moved into a new run', () => {
    const plan = correct({ engine_run: 'changed' });
    expect(JSON.stringify(plan)).not.toContain('seen_in');
  });

  test.each([
    ['running becomes host_lost after an engine restart', { engine_run: 'changed' }, 'host_lost'],
    [
      'active becomes host_lost after a host restart',
      { manifest: { status: 'active' }, boot: 'changed' },
      'host_lost',
    ],
    ['running becomes crashed', { record: { code: 3 } }, 'crashed'],
    [
      'active becomes restore_available without a container',
      { manifest: { status: 'active' }, observation: GONE },
      'restore_available',
    ],
    ['running becomes clean_exited when it ended with nobody there', { record: { code: 0 } }, 'clean_exited'],
    [
      'stopped becomes running when someone started it',
      { manifest: { status: 'stopped' }, observation: { container: RUNNING } },
      'running',
    ],
    [
      'active becomes running',
      { manifest: { status: 'active' }, observation: { container: RUNNING }, capsule: answers(true) },
      'running',
    ],
  ] as [string, FactChange, string][])('%s', (_title, change, status) => {
    expect(correct(change)?.steps).toMatchObject([{ op: 'record_status', status }]);
  });

  test.each([
    [
      'a launch in progress',
      { manifest: { status: 'active' }, lock: { state: 'held', owner: OWNER }, observation: GONE },
    ],
    ['a lock that cannot be read', { lock: { state: 'unknown', reason: 'other host' } }],
    ['an engine that does not answer', { engine: { state: 'unreachable', endpoint: 'x', reason: 'down' } }],
    ['another engine', { engine_matches: 'no', observation: GONE }],
    ['a foreign container of its name', { observation: { container: { state: 'foreign', name: 'x' } } }],
    ['a clean-up that had begun', { manifest: { status: 'purged' }, observation: GONE }],
    ['a superseded instance', { manifest: { status: 'superseded' }, observation: { container: RUNNING } }],
    ['a running one that is recorded so', { observation: { container: RUNNING }, capsule: answers(true) }],
    ['a setup that failed', { manifest: { status: 'failed_setup' }, observation: { container: RUNNING } }],
  ] as [string, FactChange][])('leaves alone %s', (_title, change) => {
    expect(correct(change)).toBeNull();
  });

  test('an end that was not decided yet stays undecided: the exit flow never runs here', () => {
    const plans = planReconcile({
      ...CALL,
      facts: [factsOf('docker', { record: { code: 0 } })],
      indexState: 'ok',
    });
    expect(plans.flatMap((plan) => plan.steps.map((step) => step.op))).toEqual(['record_status']);
  });

  test('a stop request that a living agent outlived is cleared; a fresh one stays', () => {
    const seen = (at: string) =>
      correct({
        manifest: { stop_request: { nonce: 'ours-1234', at, grace_ms: 10_000 } },
        observation: { container: RUNNING },
        capsule: answers(true),
      });
    expect(seen(STARTED)?.steps).toMatchObject([{ status: 'running', stop_request: null }]);
    expect(seen(ENDED)).toBeNull();
  });

  test('a living agent ends the decision to keep and the cause of the earlier end', () => {
    const manifest = {
      status: 'restore_available',
      keep: { intent: 'policy', at: ENDED },
      exit_cause: causeOf('clean'),
    } as const;
    const running = { observation: { container: RUNNING } };
    expect(correct({ manifest, ...running, capsule: answers(true) })?.steps).toMatchObject([
      { status: 'running', exit_cause: null, keep: null },
    ]);
    const [step] = correct({ manifest, ...running, capsule: answers(false) })?.steps ?? [];
    expect(step).toMatchObject({ status: 'running' });
    expect(step).not.toHaveProperty('keep');
  });

  test('one plan per instance that differs, and one for an index that cannot be relied on', () => {
    const facts = [
      factsOf('docker', { record: { code: 3 } }),
      factsOf('docker', { observation: { container: RUNNING } }),
    ];
    const plans = planReconcile({ ...CALL, facts, indexState: 'corrupt' });
    expect(plans.map(({ plan_id, container_base }) => [plan_id, container_base !== null])).toEqual([
      ['p1.index', false],
      ['p1.k7p9m2xq', true],
    ]);
  });

  test('a second run finds nothing to do', () => {
    const cases: FactChange[] = [
      { engine_run: 'changed' },
      { record: { code: 3 } },
      { record: { code: 0 } },
      { engine_run: 'unknown', observation: { container: container({ exit_code: 137 }) } },
      { observation: GONE },
      {
        manifest: {
          status: 'active',
          exit_cause: causeOf('clean', { at: '2026-03-01T08:00:00Z' }),
        },
        observation: GONE,
      },
      { manifest: { status: 'crashed' }, observation: { container: RUNNING } },
    ];
    for (const change of cases) {
      const facts = factsOf('docker', change);
      const plan = reconcileInstance({ ...CALL, facts });
      expect(plan).not.toBeNull();
      expect(reconcileInstance({ ...CALL, now: NOW, facts: applied(facts, plan) })).toBeNull();
    }
  });
});
