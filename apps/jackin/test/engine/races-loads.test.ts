import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { lockBarrier, race } from '../e2e/support/barrier.ts';
import { expectOnly } from '../e2e/support/instance.ts';
import { begin } from '../e2e/support/moments.ts';
import { judgeLoads, overlapCount, REPETITIONS } from '../e2e/support/racing.ts';
import { createRing, type Ring, WORKING } from './support/racing.ts';

const MINUTES = 60_000;

await describeOnEngine('disaster', 'two real loads at once on an engine, 20 times', (lab) => {
  let ring: Ring;

  beforeAll(async () => {
    ring = await createRing(lab());
  }, 5 * MINUTES);
  afterAll(() => ring?.dispose(), 5 * MINUTES);

  test(
    'of two plain loads of one directory one starts, and the other exits 3 naming it',
    async () => {
      const { sandbox } = ring;
      const overlaps = overlapCount();
      const what = ['load', 'shell', sandbox.project, '--agent', 'shell', '--backend', 'docker', '--detach'];
      const command = [...what, '--json', '--', ...WORKING];
      const first = begin(sandbox, command);
      const { instance_id, container_base } = (await first.done).json().data;
      const paths = first.lines().map(({ path }) => basename(path ?? ''));
      const lock = join(sandbox.state, 'data', String(paths.find((name) => name.startsWith('target-'))));
      await ring.remove(sandbox.adopt({ id: instance_id, base: container_base }));
      for (let round = 0; round < REPETITIONS; round += 1) {
        const raced = await race(sandbox, await lockBarrier(sandbox, lock), lock, [command, command]);
        const instance = sandbox.adopt(judgeLoads(raced));
        expectOnly(sandbox, [instance]);
        expect(await ring.added()).toEqual([`container /${instance.base}`, `network ${instance.base}-net`]);
        overlaps.note(raced);
        await ring.remove(instance);
      }
      overlaps.expectEnough();
      await ring.expectNothingLeft();
    },
    20 * MINUTES,
  );
});
