import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { guardBarrier, lockBarrier, race } from './support/barrier.ts';
import {
  expectNothingLeft,
  hasNotes,
  type Instance,
  instanceLock,
  killInstance,
  remove,
  statusOf,
  writeNotes,
} from './support/instance.ts';
import { judgeResumeAndPurge, judgeResumes, overlapCount, REPETITIONS } from './support/racing.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

const LIMIT = 10 * 60_000;

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

describe('a real resume against another jackin, released from a barrier at the contended step, 20 times each', () => {
  test(
    'of two resumes of one instance one starts it, and the other attaches to that one',
    async () => {
      const overlaps = overlapCount();
      const instance = await sandbox.loadShell();
      const lock = instanceLock(sandbox, instance);
      const command = ['resume', instance.id, '--detach', '--json'];
      for (let round = 0; round < REPETITIONS; round += 1) {
        await killInstance(instance);
        const raced = await race(sandbox, await lockBarrier(sandbox, lock), lock, [command, command]);
        judgeResumes(raced, 'capsule_crash');
        overlaps.note(raced);
      }
      overlaps.expectEnough();
      await remove(sandbox, instance);
      expectNothingLeft(sandbox);
    },
    LIMIT,
  );

  test(
    'of a resume against a purge exactly one happens, wholly',
    async () => {
      const overlaps = overlapCount();
      let instance: Instance | null = null;
      for (let round = 0; round < REPETITIONS; round += 1) {
        instance ??= await loadWithNotes();
        await stoppedAndRecorded(instance);
        const { id } = instance;
        // Both have looked at a stopped instance and decided; the lock is all they still need.
        const raced = await race(sandbox, guardBarrier(sandbox), instanceLock(sandbox, instance), [
          ['resume', id, '--detach', '--json'],
          ['purge', id, '--yes', '--json'],
        ]);
        overlaps.note(raced);
        if (judgeResumeAndPurge(raced, instance)) {
          expect(await sandbox.traces(instance)).toEqual([]);
          instance = null;
        } else {
          expect(sandbox.manifest(instance.base).status).toBe('running');
          expect(hasNotes(sandbox, instance)).toBe(true);
        }
      }
      overlaps.expectEnough();
      if (instance !== null) await remove(sandbox, instance);
      expectNothingLeft(sandbox);
    },
    LIMIT,
  );
});

async function loadWithNotes(): Promise<Instance> {
  const instance = await sandbox.loadShell();
  writeNotes(sandbox, instance);
  return instance;
}

/** Dead, and known to be: a command that looks at it has nothing to correct. */
async function stoppedAndRecorded(instance: Instance): Promise<void> {
  await killInstance(instance);
  expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'crashed' });
}
