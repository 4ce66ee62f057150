import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lockBarrier, type RaceResult, race } from './support/barrier.ts';
import { expectNothingLeft, expectOnly, type Instance, loadArgs, remove } from './support/instance.ts';
import { begin } from './support/moments.ts';
import { beganAs, byCode, judgeLoads, overlapCount, REPETITIONS } from './support/racing.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

const LIMIT = 10 * 60_000;

let sandbox: Sandbox;
let overlaps: ReturnType<typeof overlapCount>;

beforeEach(() => {
  sandbox = createSandbox();
  overlaps = overlapCount();
});
afterEach(() => sandbox.dispose());

describe('two real loads released from a barrier at the contended step, 20 times each', () => {
  test(
    'of two plain loads of one directory one starts, and the other exits 3 naming it',
    async () => {
      const target = await targetLockName();
      await inFreshState(async (state, last) => {
        const lock = join(state.state, 'data', target);
        const command = loadArgs(state);
        const raced = await race(state, await lockBarrier(state, lock), lock, [command, command]);
        await expectStarted(state, raced, [judgeLoads(raced)], last);
      });
    },
    LIMIT,
  );

  test(
    'of two loads with --new both start, as two instances',
    async () => {
      await inFreshState(async (state, last) => {
        const index = join(state.state, 'data/instances.json.lock');
        const command = loadArgs(state, '--new');
        const raced = await race(state, await lockBarrier(state, index), index, [command, command]);
        const started = byCode(raced, [0, 0]).map((result) => result.json().data);
        expect(started.map(({ status }) => status)).toEqual(['running', 'running']);
        const instances = started.map((data) => ({ id: data.instance_id, base: data.container_base }));
        expect(new Set(instances.map(({ id }) => id)).size).toBe(2);
        expect(beganAs(raced.lines, 'start_container')).toBe(2);
        await expectStarted(state, raced, instances, last);
      });
    },
    LIMIT,
  );
});

/** Each repetition has a state directory of its own; the project, and with it the target, is the same. */
async function inFreshState(repetition: (state: Sandbox, last: boolean) => Promise<void>): Promise<void> {
  for (let round = 1; round <= REPETITIONS; round += 1) {
    const state = createSandbox({ project: sandbox.project });
    try {
      await repetition(state, round === REPETITIONS);
    } finally {
      await state.dispose();
    }
  }
  overlaps.expectEnough();
}

/** As many capsules as instances, and nothing beside them; at last not even those. */
async function expectStarted(
  state: Sandbox,
  raced: RaceResult,
  instances: Instance[],
  last: boolean,
): Promise<void> {
  overlaps.note(raced);
  expectOnly(state, instances);
  if (!last) return;
  await Promise.all(instances.map((instance) => remove(state, instance)));
  expectNothingLeft(state);
}

/** The name of the lock the product takes for this target, as the journal of a first load tells it. */
async function targetLockName(): Promise<string> {
  const first = begin(sandbox, loadArgs(sandbox));
  expect((await first.done).code).toBe(0);
  const taken = first.lines().map(({ path }) => basename(path ?? ''));
  return taken.find((name) => name.startsWith('target-')) ?? '';
}
