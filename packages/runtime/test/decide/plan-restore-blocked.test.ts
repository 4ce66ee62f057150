import { describe, expect, test } from '@jest/globals';
import { planRestore } from '../../src/decide/index.ts';
import type { ImageFact } from '../../src/index.ts';
import { BASE, CALL, type FactChange, factsOf, IMAGE, OTHER_IMAGE, OWNER, SESSION } from './fixtures.ts';

const GONE = { container: { state: 'missing' } } as const;
const missing: ImageFact = { state: 'missing' };
const docker = (change: FactChange) =>
  planRestore({ ...CALL, facts: factsOf('docker', change), session: SESSION });

describe('blocked', () => {
  const drifted: Record<'by_id' | 'by_keep_tag' | 'by_tag', ImageFact> = {
    by_id: missing,
    by_keep_tag: missing,
    by_tag: { state: 'present', image_id: OTHER_IMAGE },
  };
  const unseen: ImageFact = { state: 'unknown', reason: 'timeout' };

  test.each([
    ['ENGINE_UNREACHABLE', { engine: { state: 'unreachable', endpoint: 'unix:///a.sock', reason: 'down' } }],
    ['OTHER_ENGINE', { engine_matches: 'no', observation: GONE }],
    ['FOREIGN_CONTAINER', { observation: { container: { state: 'foreign', name: BASE } } }],
    ['INSTANCE_UNOBSERVABLE', { observation: { container: { state: 'unreachable', reason: '500' } } }],
    ['INSTANCE_UNOBSERVABLE', { lock: { state: 'unknown', reason: 'other host' } }],
    ['INSTANCE_BUSY', { lock: { state: 'held', owner: OWNER } }],
    ['INSTANCE_NOT_RESTORABLE', { manifest: { status: 'superseded' } }],
    ['INSTANCE_NOT_RESTORABLE', { manifest: { status: 'purged' } }],
    ['INSTANCE_NOT_RESTORABLE', { data_dir: 'no' }],
    ['STATE_NOT_READABLE', { data_dir: 'unknown' }],
    ['RECIPE_MISSING', { manifest: { recipe: undefined } }],
    ['IMAGE_GONE', { observation: { ...GONE, image: drifted } }],
    ['IMAGE_NOT_OBSERVABLE', { observation: { ...GONE, image: { ...drifted, by_id: unseen } } }],
    ['IMAGE_NOT_OBSERVABLE', { observation: { ...GONE, image: { ...drifted, by_keep_tag: unseen } } }],
    ['IMAGE_NOT_OBSERVABLE', { observation: { ...GONE, image: null } }],
  ] as [string, FactChange][])('%s for %j', (code, change) => {
    const result = docker(change);
    if (result.outcome !== 'blocked') throw new Error('not blocked');
    expect(result.error.code).toBe(code);
    expect(result.error.hint).toBeTruthy();
  });

  test('OTHER_ENGINE for one whose root would be the root of the machine', () => {
    const run = { user: '0:0', host_user: '1001:100', limits: {} };
    const recipe = { ...factsOf('docker').manifest.recipe, run };
    const engine = factsOf('docker').engine;
    const rootful = docker({ manifest: { recipe } } as FactChange);
    if (rootful.outcome !== 'blocked') throw new Error('not blocked');
    expect(rootful.error).toMatchObject({
      code: 'OTHER_ENGINE',
      message: expect.stringContaining('rootless'),
    });
    expect(
      docker({ manifest: { recipe }, engine: { ...engine, rootless: true } } as FactChange).outcome,
    ).not.toBe('blocked');
  });

  test('an image that is gone names id, tag and the drift', () => {
    const result = docker({ observation: { ...GONE, image: drifted } });
    if (result.outcome !== 'blocked') throw new Error('not blocked');
    expect(result.error.message).toContain(IMAGE);
    expect(result.error.message).toContain(`${OTHER_IMAGE} (drift)`);
    expect(result.error.details).toMatchObject({ tier: 3, drifted_to: OTHER_IMAGE });
  });
});
