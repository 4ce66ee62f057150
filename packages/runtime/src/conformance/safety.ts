import assert from 'node:assert/strict';
import type { Backend, InstanceRef } from '../backend.ts';
import {
  type BackendHarness,
  freshSignal,
  launched,
  type MakeHarness,
  observed,
  type TestRunner,
  withHarness,
} from './harness.ts';

/** A cancelled call may finish what cannot be interrupted, but not more. */
const PROMPT_MS = 2_000;

/** What a backend must never do, whatever it is asked. */
export function describeSafety(make: MakeHarness, { it }: TestRunner): void {
  it(
    'refuses to remove what runs, and it runs on',
    withHarness(make, async (harness) => {
      await launched(harness);
      const before = await observed(harness);
      await assert.rejects(harness.backend.remove(harness.ref(), 'container', freshSignal()), {
        code: 'CONTAINER_RUNNING',
      });
      assert.deepEqual(await observed(harness), before);
    }),
  );

  it(
    'ends no process of a living capsule as a leftover',
    withHarness(make, async (harness) => {
      await launched(harness);
      const before = await observed(harness);
      assert.deepEqual(await harness.backend.endLeftovers(harness.ref(), freshSignal()), []);
      assert.deepEqual(await observed(harness), before);
    }),
  );

  it(
    'leaves alone what only looks like the instance',
    withHarness(make, async (harness) => {
      const { ref, untouched } = await harness.foreign();
      assert.notEqual((await observed(harness, ref))?.container.state, 'running');
      // Refusing is as good as doing nothing.
      await Promise.allSettled([harness.backend.stop(ref, 0, freshSignal())]);
      await Promise.allSettled([harness.backend.endLeftovers(ref, freshSignal())]);
      await Promise.allSettled([harness.backend.remove(ref, 'container', freshSignal())]);
      assert.equal(await untouched(), true);
    }),
  );

  it(
    'does not report an instance of another backend',
    withHarness(make, async (harness) => {
      const ref = onOtherBackend(harness.ref(), harness.backend.kind);
      assert.equal((await harness.backend.observe([ref], freshSignal())).instances.size, 0);
    }),
  );

  it(
    'answers with a value when the engine cannot be looked at',
    withHarness(make, async (harness) => {
      await launched(harness);
      const inventory = await harness.observeUnreachable();
      assert.equal(inventory.engine.state, 'unreachable');
      for (const { container } of inventory.instances.values()) {
        assert.equal(container.state, 'unreachable');
      }
    }),
  );

  for (const [method, call] of Object.entries(CALLS)) {
    it(
      `ends ${method} when its signal is aborted`,
      withHarness(make, async (harness) => {
        await harness.prepare();
        const reason = new Error('enough');
        const startedAtMs = performance.now();
        await assert.rejects(call(harness, AbortSignal.abort(reason)), (error) => error === reason);
        assert.ok(performance.now() - startedAtMs < PROMPT_MS, `${method} took too long`);
        assert.equal((await observed(harness))?.container.state, 'missing');
      }),
    );
  }
}

/** Every method of the port that reaches outside. */
const CALLS: Record<
  Exclude<keyof Backend, 'kind'>,
  (harness: BackendHarness, signal: AbortSignal) => Promise<unknown>
> = {
  observe: ({ backend, ref }, signal) => backend.observe([ref()], signal),
  capsule: async ({ backend, ref }, signal) => backend.capsule(ref()).open(signal),
  create: ({ backend, context }, signal) => backend.create(context(signal)),
  probe: ({ backend, ref }, signal) => backend.probe(ref(), { argv: ['true'], cwd: '/', env: {} }, signal),
  start: ({ backend, context }, signal) => backend.start(context(signal)),
  stop: ({ backend, ref }, signal) => backend.stop(ref(), 1_000, signal),
  endLeftovers: ({ backend, ref }, signal) => backend.endLeftovers(ref(), signal),
  remove: ({ backend, ref }, signal) => backend.remove(ref(), 'container', signal),
  rename: ({ backend, ref }, signal) => backend.rename(ref(), `${ref().container_base}-old`, signal),
  pinImage: ({ backend, ref }, signal) => backend.pinImage(ref(), 'sha256:0', signal),
  changedPaths: ({ backend, ref }, signal) => backend.changedPaths(ref(), signal),
  doctor: ({ backend }, signal) => backend.doctor(signal),
};

function onOtherBackend(ref: InstanceRef, kind: Backend['kind']): InstanceRef {
  const other = kind === 'docker' ? 'standalone' : 'docker';
  const { manifest } = ref;
  const recipe = manifest.recipe && { ...manifest.recipe, backend: other as Backend['kind'] };
  return { ...ref, manifest: { ...manifest, ...(recipe ? { recipe } : {}) } };
}
