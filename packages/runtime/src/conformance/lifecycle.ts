import assert from 'node:assert/strict';
import {
  freshSignal,
  launched,
  type MakeHarness,
  observed,
  type TestRunner,
  withHarness,
} from './harness.ts';

/** Create, start, stop and remove are idempotent, and `observe` tells the truth between them. */
export function describeLifecycle(make: MakeHarness, { it }: TestRunner): void {
  it(
    'observes nothing without being asked for anything',
    withHarness(make, async ({ backend }) => {
      const inventory = await backend.observe([], freshSignal());
      assert.equal(inventory.engine.state, 'reachable');
      assert.equal(inventory.instances.size, 0);
    }),
  );

  it(
    'calls an instance that was never started missing',
    withHarness(make, async (harness) => {
      await harness.prepare();
      const found = await observed(harness);
      assert.deepEqual(found?.container, { state: 'missing' });
      assert.deepEqual(found.leftover_pids, []);
    }),
  );

  it(
    'creates only what is missing',
    withHarness(make, async (harness) => {
      await harness.prepare();
      await harness.backend.create(harness.context(freshSignal()));
      const again = await harness.backend.create(harness.context(freshSignal()));
      assert.deepEqual(again.created, []);
    }),
  );

  it(
    'starts a capsule that can be connected to',
    withHarness(make, async (harness) => {
      await launched(harness);
      assert.equal((await observed(harness))?.container.state, 'running');
      const stream = await harness.backend.capsule(harness.ref()).open(freshSignal());
      stream.destroy();
    }),
  );

  it(
    'starts nothing twice, also when the first start was never recorded',
    withHarness(make, async (harness) => {
      await harness.prepare();
      await harness.backend.create(harness.context(freshSignal()));
      await harness.backend.start(harness.context(freshSignal()));
      const unrecorded = await observed(harness);
      assert.equal(unrecorded?.container.state, 'running');
      harness.recordStart(await harness.backend.start(harness.context(freshSignal())));
      const recorded = await observed(harness);
      assert.deepEqual(recorded, unrecorded);
    }),
  );

  it(
    'tells a crash from a removal, and starts again after it',
    withHarness(make, async (harness) => {
      await launched(harness);
      await harness.crash();
      const crashed = await observed(harness);
      assert.equal(crashed?.container.state, 'stopped');
      assert.deepEqual(crashed.container.state === 'stopped' && crashed.container.startable, { ok: true });
      harness.recordStart(await harness.backend.start(harness.context(freshSignal())));
      assert.equal((await observed(harness))?.container.state, 'running');
    }),
  );

  it(
    'stops what runs and leaves what is stopped',
    withHarness(make, async (harness) => {
      await launched(harness);
      await harness.backend.stop(harness.ref(), 5_000, freshSignal());
      const stopped = await observed(harness);
      assert.equal(stopped?.container.state, 'stopped');
      assert.deepEqual(stopped.leftover_pids, []);
      await harness.backend.stop(harness.ref(), 5_000, freshSignal());
      assert.deepEqual(await observed(harness), stopped);
    }),
  );

  it(
    'removes a stopped container once, and no file of the instance',
    withHarness(make, async (harness) => {
      await launched(harness);
      await harness.backend.stop(harness.ref(), 5_000, freshSignal());
      assert.equal(await harness.backend.remove(harness.ref(), 'container', freshSignal()), 'removed');
      harness.recordRemoval();
      assert.equal(await harness.backend.remove(harness.ref(), 'container', freshSignal()), 'absent');
      assert.deepEqual((await observed(harness))?.container, { state: 'missing' });
      assert.equal(await harness.filesIntact(), true);
    }),
  );

  it(
    'answers absent for every resource that is not there',
    withHarness(make, async (harness) => {
      await harness.prepare();
      for (const what of ['container', 'sidecar', 'network', 'volume', 'keep_tag'] as const) {
        assert.equal(await harness.backend.remove(harness.ref(), what, freshSignal()), 'absent', what);
      }
    }),
  );
}
