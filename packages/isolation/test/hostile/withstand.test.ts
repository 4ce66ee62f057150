import { existsSync, readdirSync } from 'node:fs';
import { JackinError } from '@jackin/core';
import { assessRecord, observeSource, removeMaterialised, snapshotRefs } from '@jackin/isolation';
import { expect, test } from '@jest/globals';
import { corpus, hostileScene, recordOf, type Scene } from '../../../../tools/hostile/corpus.ts';

/** Less than the bound of one git process: nothing here is work that takes its time. */
const BOUND_MS = 55_000;
/** A call that waits for its own bound is a fault that is to be told, not a test that is cut off. */
const TEST_MS = 240_000;

const cases = corpus.flatMap(({ name, plant, kinds = ['clone', 'worktree'] }) =>
  kinds.map((kind) => ({ name, plant, kind })),
);

test.each(cases)(
  'nothing planted runs, is read or is believed ($kind): $name',
  async ({ plant, kind }) => {
    using scene = await hostileScene(kind);
    await plant(scene);
    const fired = scene.fired().length;
    const outside = names(scene);
    scene.watch();
    const record = recordOf(scene);
    const started = performance.now();

    const assessment = await assessRecord(record);
    // Every scene holds work that is nowhere else.
    expect(assessment).not.toMatchObject({ verdict: 'clean' });
    expect({ fired: scene.fired().slice(fired), read: scene.read() }).toEqual({ fired: [], read: [] });

    await observeSource(record);
    expect({ fired: scene.fired().slice(fired), read: scene.read() }).toEqual({ fired: [], read: [] });

    // For a launch, so it takes the path for what it is given as: it may follow it, but runs nothing.
    await refusedAtMost(snapshotRefs(scene.tree));
    await refusedAtMost(removeMaterialised(record));
    expect(performance.now() - started).toBeLessThan(BOUND_MS);
    expect({ fired: scene.fired().slice(fired), outside: names(scene) }).toEqual({ fired: [], outside });
    expect(existsSync(scene.host)).toBe(true);
  },
  TEST_MS,
);

/** A refusal is an answer; anything else that is thrown is not. */
async function refusedAtMost(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof JackinError)) throw error;
  });
}

function names({ outside }: Scene): string[] {
  return readdirSync(outside, { recursive: true, encoding: 'utf8' }).sort();
}
