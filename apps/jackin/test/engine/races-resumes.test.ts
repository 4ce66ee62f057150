import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { guardBarrier, lockBarrier, race } from '../e2e/support/barrier.ts';
import { instanceLock } from '../e2e/support/instance.ts';
import { judgeResumeAndPurge, judgeResumes, overlapCount, REPETITIONS } from '../e2e/support/racing.ts';
import type { Instance } from './support/engine-sandbox.ts';
import { ALL, seenInside } from './support/files.ts';
import { createRing, type Ring } from './support/racing.ts';

const MINUTES = 60_000;
const LIMIT = 20 * MINUTES;

await describeOnEngine(
  'disaster',
  'a real resume against another jackin on an engine, 20 times each',
  (lab) => {
    let ring: Ring;

    beforeAll(async () => {
      ring = await createRing(lab());
    }, 5 * MINUTES);
    afterAll(() => ring?.dispose(), 5 * MINUTES);

    test(
      'of two resumes of one instance one starts it, and the other joins that one',
      async () => {
        const { sandbox } = ring;
        const overlaps = overlapCount();
        const instance = await ring.working();
        const { Id: id } = await sandbox.container(instance).inspect();
        const lock = instanceLock(sandbox, instance);
        const command = ['resume', instance.id, '--detach', '--json'];
        for (let round = 0; round < REPETITIONS; round += 1) {
          await ring.kill(instance);
          const raced = await race(sandbox, await lockBarrier(sandbox, lock), lock, [command, command]);
          judgeResumes(raced, 'killed');
          expect((await sandbox.container(instance).inspect()).Id).toBe(id);
          overlaps.note(raced);
        }
        expect(await seenInside(sandbox, instance)).toEqual(ALL);
        await ring.remove(instance);
        overlaps.expectEnough();
        await ring.expectNothingLeft();
      },
      LIMIT,
    );

    test(
      'of a resume against a purge exactly one happens, wholly',
      async () => {
        const { sandbox } = ring;
        const overlaps = overlapCount();
        let instance: Instance | null = null;
        for (let round = 0; round < REPETITIONS; round += 1) {
          instance ??= await ring.working();
          await ring.kill(instance);
          expect(await sandbox.status(instance)).toMatchObject({ status: 'stopped', cause: 'killed' });
          // Both have looked at a stopped instance and decided; the lock is all they still need.
          const raced = await race(sandbox, guardBarrier(sandbox), instanceLock(sandbox, instance), [
            ['resume', instance.id, '--detach', '--json'],
            ['purge', instance.id, '--yes', '--json'],
          ]);
          overlaps.note(raced);
          if (judgeResumeAndPurge(raced, instance)) {
            expect(await sandbox.traces(instance)).toEqual([]);
            expect(await ring.added()).toEqual([]);
            instance = null;
          } else {
            expect(sandbox.manifest(instance.base).status).toBe('running');
            expect(await seenInside(sandbox, instance)).toEqual(ALL);
          }
        }
        if (instance !== null) await ring.remove(instance);
        overlaps.expectEnough();
        await ring.expectNothingLeft();
      },
      LIMIT,
    );
  },
);
