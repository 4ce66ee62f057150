import { describe, expect, test } from '@jest/globals';
import { classifyExit, planEject, planKeep, planRecord, planStop } from '../../src/decide/index.ts';
import type { InstanceFacts, Plan } from '../../src/index.ts';
import {
  answers,
  CALL,
  causeOf,
  container,
  type FactChange,
  factsOf,
  IMAGE,
  NOW,
  OWNER,
  RUNNING,
} from './fixtures.ts';

const GONE = { container: { state: 'missing' } } as const;
const ops = (plan: Plan) => plan.steps.map((step) => step.op);
const keep = (facts: InstanceFacts) => {
  const classification = classifyExit(
    { ...facts, observation: { ...facts.observation, container: container() } },
    NOW,
  );
  if (classification.outcome !== 'ended') throw new Error('not ended');
  return planKeep({ ...CALL, facts, classification, intent: 'operator', status: 'restore_available' });
};

describe('keep', () => {
  test('records the decision first, pins the image, frees the engine and keeps the state', () => {
    const plan = keep(factsOf('docker', { record: { code: 0 } }));
    expect(ops(plan)).toEqual([
      'record_status',
      'stop_container',
      'pin_image',
      'remove_container',
      'remove_sidecar',
      'remove_volume',
      'remove_network',
    ]);
    expect(plan.steps[0]).toMatchObject({
      status: 'restore_available',
      exit_cause: { kind: 'clean', exit_code: 0 },
      keep: { intent: 'operator', at: NOW, image_id: IMAGE },
      last_attach_outcome: 'exit:0',
    });
  });

  test('of a standalone instance ends its process and keeps everything else', () => {
    const observation = { container: RUNNING };
    const plan = keep(factsOf('standalone', { observation, capsule: answers(false), record: { code: 0 } }));
    expect(ops(plan)).toEqual(['record_status', 'stop_container', 'end_leftovers', 'remove_container']);
  });

  test.each([
    ['is gone', { state: 'missing' }],
    ['could not be looked at', { state: 'unknown', reason: 'timeout' }],
  ] as const)('leaves the container when its image %s, because nothing else leads back', (_title, by_id) => {
    const image = { by_id, by_keep_tag: { state: 'missing' }, by_tag: { state: 'missing' } } as const;
    const plan = keep(factsOf('docker', { record: { code: 0 }, observation: { image } }));
    expect(ops(plan).filter((op) => op.startsWith('remove'))).toEqual([]);
    expect(plan.summary).toContain('with its container');
  });

  test('never takes what is foreign or could not be seen', () => {
    const observation = {
      network: 'unknown',
      volume: 'foreign',
      sidecar: { state: 'unreachable', reason: '500' },
    };
    const plan = keep(
      factsOf('docker', { record: { code: 0 }, observation: observation as FactChange['observation'] & {} }),
    );
    expect(ops(plan).filter((op) => op.startsWith('remove'))).toEqual(['remove_container']);
  });

  test('never ends an agent that is alive or may be', () => {
    const alive = factsOf('docker', { observation: { container: RUNNING }, capsule: answers(true) });
    const silent = factsOf('docker', { observation: { container: RUNNING } });
    expect(() => keep(alive)).toThrow(expect.objectContaining({ code: 'AGENT_ALIVE' }));
    expect(() => keep(silent)).toThrow(expect.objectContaining({ code: 'AGENT_STATE_UNKNOWN' }));
  });
});

describe('stop', () => {
  const stop = (facts: InstanceFacts) => planStop({ ...CALL, facts });

  test('ends the container with our nonce and removes nothing', () => {
    const plan = stop(factsOf('docker', { observation: { container: RUNNING }, capsule: answers(true) }));
    expect(plan.steps).toMatchObject([{ op: 'stop_container', nonce: CALL.nonce, grace_ms: 10_000 }]);
  });

  test('ends a capsule that does not answer, and what outlived it', () => {
    const plan = stop(factsOf('standalone', { observation: { container: RUNNING } }));
    expect(ops(plan)).toEqual(['stop_container', 'end_leftovers']);
  });

  test('of something at rest has no steps', () => {
    const observation = { sidecar: { state: 'missing' } } as const;
    expect(stop(factsOf('docker', { observation, record: { code: 0 } })).steps).toEqual([]);
  });

  test('of a crashed container still ends its sidecar', () => {
    expect(ops(stop(factsOf('docker', { record: { code: 3 } })))).toEqual(['stop_container']);
  });

  test('is refused while another process works on the instance or nothing can be seen', () => {
    const busy = factsOf('docker', { lock: { state: 'held', owner: OWNER } });
    const dark = factsOf('docker', { engine: { state: 'unreachable', endpoint: 'x', reason: 'down' } });
    expect(() => stop(busy)).toThrow(expect.objectContaining({ code: 'INSTANCE_BUSY' }));
    expect(() => stop(dark)).toThrow(expect.objectContaining({ code: 'ENGINE_UNREACHABLE' }));
  });
});

describe('eject', () => {
  const eject = (facts: InstanceFacts) => planEject({ ...CALL, facts });

  test('ends a living agent, frees the engine and keeps the state with our stop as its cause', () => {
    const plan = eject(factsOf('docker', { observation: { container: RUNNING }, capsule: answers(true) }));
    expect(ops(plan).slice(0, 4)).toEqual([
      'record_status',
      'stop_container',
      'pin_image',
      'remove_container',
    ]);
    expect(plan.steps[0]).toMatchObject({
      status: 'restore_available',
      exit_cause: { kind: 'jackin_stop' },
      keep: { intent: 'operator', image_id: IMAGE },
    });
  });

  test('of a crashed instance keeps the cause of the crash', () => {
    const [first] = eject(factsOf('docker', { record: { code: 3 } })).steps;
    expect(first).toMatchObject({ status: 'restore_available', exit_cause: { kind: 'agent_crash' } });
  });

  test('keeps the status of what was kept or superseded before', () => {
    for (const status of ['preserved_unpushed', 'superseded', 'failed_setup'] as const) {
      expect(eject(factsOf('docker', { manifest: { status } })).steps[0]).toMatchObject({ status });
    }
  });

  test('of an instance that holds nothing in the engine has no steps', () => {
    const observation = { ...GONE, sidecar: null, network: 'missing', volume: 'missing' } as const;
    expect(eject(factsOf('docker', { observation })).steps).toEqual([]);
  });

  test('is refused while nobody knows whether an agent is alive, and for a clean-up that had begun', () => {
    const silent = factsOf('docker', { observation: { container: RUNNING } });
    expect(() => eject(silent)).toThrow(expect.objectContaining({ code: 'AGENT_STATE_UNKNOWN' }));
    const purged = factsOf('docker', { manifest: { status: 'purged' } });
    expect(() => eject(purged)).toThrow(expect.objectContaining({ code: 'INSTANCE_PURGED' }));
  });
});

test('a record writes status and cause and does nothing else', () => {
  const cause = causeOf('agent_crash', { exit_code: 3, evidence: ['code 3'] });
  const plan = planRecord({
    ...CALL,
    facts: factsOf('docker'),
    status: 'crashed',
    cause,
    lastAttachOutcome: 'exit:3',
  });
  expect(plan.steps).toMatchObject([
    { op: 'record_status', status: 'crashed', exit_cause: cause, last_attach_outcome: 'exit:3' },
  ]);
});
