import { describe, expect, test } from '@jest/globals';
import {
  candidatesFor,
  classifyStartFailure,
  planEject,
  planReconcile,
  planStop,
  type RestorePlan,
} from '../../src/decide/index.ts';
import type { ImageFact } from '../../src/index.ts';
import { docker, GONE, restore } from './field-report.ts';
import { answers, BASE, CALL, container, IMAGE, NOW, OTHER_IMAGE, RUNNING } from './fixtures.ts';

const TARGET = {
  workspaceName: 'proj',
  hostWorkdirFingerprint: 'sha256:abc',
  roleKey: 'the-architect',
  agent: 'claude',
};
const removals = (result: RestorePlan) =>
  result.outcome === 'blocked' ? [] : result.plan.steps.filter((step) => step.op.startsWith('remove'));

describe('field reports about restores', () => {
  test('O39: a file system that cannot be mounted leads to tier 2, with consent and the old container renamed', () => {
    const result = restore(docker({}), 'failed to mount local rootfs: input/output error');
    expect(result).toMatchObject({ outcome: 'needs_consent', plan: { tier: 2 } });
    expect(result.outcome === 'needs_consent' && result.plan.steps[1]?.op).toBe('rename_container');
  });

  test('O43: a network that is gone is made again, or tier 2 is offered with what it costs', () => {
    const network = { network: 'missing' } as const;
    const again = restore(docker({ observation: network }));
    expect(again).toMatchObject({ outcome: 'plan', plan: { tier: 1 } });
    const dead = container({ startable: { ok: false, reason: 'network id 3f2a is gone' } });
    expect(restore(docker({ observation: { ...network, container: dead } }))).toMatchObject({
      outcome: 'needs_consent',
      reason: 'its container cannot be started (network id 3f2a is gone)',
      plan: { tier: 2, did_not_return: ['live_processes', 'writable_layer'] },
    });
  });

  test('O44: the id counts when the tag is gone, and a tag that names another image is drift', () => {
    const image = (by_id: ImageFact, by_tag: ImageFact) => ({
      by_id,
      by_tag,
      by_keep_tag: { state: 'missing' } as const,
    });
    const byId = image({ state: 'present', image_id: IMAGE }, { state: 'missing' });
    expect(restore(docker({ observation: { ...GONE, image: byId } }))).toMatchObject({ plan: { tier: 2 } });
    const drift = image({ state: 'missing' }, { state: 'present', image_id: OTHER_IMAGE });
    const blocked = restore(docker({ observation: { ...GONE, image: drift } }));
    expect(blocked).toMatchObject({
      outcome: 'blocked',
      error: { code: 'IMAGE_GONE', details: { tier: 3 } },
    });
  });

  test('O47: a foreign container of our name is never reused, renamed or removed', () => {
    const facts = docker({ observation: { container: { state: 'foreign', name: BASE } } });
    expect(restore(facts)).toMatchObject({ outcome: 'blocked', error: { code: 'FOREIGN_CONTAINER' } });
    for (const plan of [planStop, planEject]) {
      expect(() => plan({ ...CALL, facts })).toThrow(expect.objectContaining({ code: 'FOREIGN_CONTAINER' }));
    }
    expect(planReconcile({ ...CALL, facts: [facts], indexState: 'ok' })).toEqual([]);
  });

  test('O48: a port that is taken at the start is a named failure that gives up nothing', () => {
    const failure =
      'driver failed programming external connectivity: Bind for 0.0.0.0:8080 failed: address already in use';
    const result = restore(docker({}), failure);
    expect(result).toMatchObject({ outcome: 'blocked', error: { code: 'START_FAILED' } });
    expect(result.outcome === 'blocked' && result.error.message).toContain('0.0.0.0:8080');
  });

  test('O49: a container that runs with a dead agent gets a new agent in the same container', () => {
    const facts = docker({ observation: { container: RUNNING }, capsule: answers(false) });
    expect(restore(facts)).toMatchObject({ plan: { tier: 0, did_not_return: ['agent_process'] } });
    expect(candidatesFor(TARGET, [facts], NOW)).toMatchObject([
      { what: 'running, agent ended', readiness: 'ready' },
    ]);
  });

  test('O50: its own stopped container is started again, never built afresh', () => {
    const result = restore(docker({ observation: { container: container({ exit_code: 143 }) } }));
    expect(result).toMatchObject({ outcome: 'plan', plan: { tier: 1 } });
    expect(result.outcome === 'plan' && result.plan.did_not_return).not.toContain('writable_layer');
    expect(removals(result)).toEqual([]);
  });

  test('O54: an image deleted by hand is named with what is missing', () => {
    const missing = { state: 'missing' } as const;
    const image = { by_id: missing, by_keep_tag: missing, by_tag: missing };
    const result = restore(docker({ observation: { ...GONE, image } }));
    expect(result.outcome === 'blocked' && result.error.message).toContain(
      `id ${IMAGE}, tag jk_the-architect:0a1b2c3`,
    );
  });

  test('O56: a port without a visible owner neither loops nor falls to tier 2', () => {
    expect(classifyStartFailure('Bind for :::3000 failed: port is already allocated')).toMatchObject({
      kind: 'port',
      falls_through: false,
      hint: expect.stringContaining('restart the engine'),
    });
    const result = restore(docker({}), 'Bind for :::3000 failed: port is already allocated');
    expect(result).toMatchObject({ outcome: 'blocked', error: { code: 'START_FAILED' } });
  });
});
