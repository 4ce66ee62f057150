import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { guardBarrier, lockBarrier, type RaceResult, race } from './support/barrier.ts';
import {
  expectNothingLeft,
  hasNotes,
  type Instance,
  indexed,
  instanceLock,
  killInstance,
  loadArgs,
  remove,
  statusOf,
  writeNotes,
} from './support/instance.ts';
import { readJournal, stepsBegun } from './support/journal.ts';
import { type CliResult, createSandbox, type Sandbox } from './support/sandbox.ts';

const REPETITIONS = Number(process.env.REPS ?? 20);
const MINUTES = 60_000;

let sandbox: Sandbox;
let overlaps: number;

beforeEach(() => {
  sandbox = createSandbox();
  overlaps = 0;
});
afterEach(() => sandbox.dispose());

describe('two real jackins released from a barrier at the contended step, 20 times each', () => {
  test(
    'of two plain loads of one directory one starts, and the other exits 3 naming it',
    async () => {
      const command = loadArgs(sandbox);
      const target = await targetLock(command);
      for (let round = 0; round < REPETITIONS; round += 1) {
        const raced = await race(sandbox, await lockBarrier(sandbox, target), target, [command, command]);
        const [started, refused] = byCode(raced, [0, 3]);
        const { instance_id: id, container_base: base } = started.json().data;
        const { code, message, hint, details } = refused.json().error;
        expect(code).toBe('DECISION_NEEDED');
        expect(message).toContain(base);
        expect(hint).toContain(`--instance ${id}`);
        expect(details.candidates.map((row: { instance_id: string }) => row.instance_id)).toEqual([id]);
        expect(capsulesStarted(raced)).toBe(1);
        note(raced);
        await remove(sandbox, { id, base });
        expectNothingLeft(sandbox);
      }
      expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
    },
    4 * MINUTES,
  );

  test(
    'of two loads with --new both start, as two instances',
    async () => {
      const command = loadArgs(sandbox, '--new');
      const index = join(sandbox.state, 'data/instances.json.lock');
      for (let round = 0; round < REPETITIONS; round += 1) {
        const raced = await race(sandbox, await lockBarrier(sandbox, index), index, [command, command]);
        const started = byCode(raced, [0, 0]).map((result) => result.json().data);
        const instances = started.map((data) => ({ id: data.instance_id, base: data.container_base }));
        expect(new Set(instances.map(({ id }) => id)).size).toBe(2);
        expect(started.map(({ status }) => status)).toEqual(['running', 'running']);
        expect(indexed(sandbox).sort()).toEqual(instances.map(({ base }) => base).sort());
        expect(capsulesStarted(raced)).toBe(2);
        note(raced);
        await Promise.all(instances.map((instance) => remove(sandbox, instance)));
        expectNothingLeft(sandbox);
      }
      expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
    },
    4 * MINUTES,
  );

  test(
    'of two resumes of one instance one starts it, and the other attaches to that one',
    async () => {
      const instance = await sandbox.loadShell();
      const lock = instanceLock(sandbox, instance);
      const command = ['resume', instance.id, '--detach', '--json'];
      for (let round = 0; round < REPETITIONS; round += 1) {
        await killInstance(instance);
        const raced = await race(sandbox, await lockBarrier(sandbox, lock), lock, [command, command]);
        const documents = byCode(raced, [0, 0]).map((result) => result.json().data);
        const [joined, started] = documents.sort((a, b) => a.tier - b.tier);
        expect(started).toMatchObject({ tier: 1, status: 'running', cause: 'capsule_crash' });
        expect(joined).toMatchObject({ tier: 0, status: 'running', cause: null, did_not_return: [] });
        expect(capsulesStarted(raced)).toBe(1);
        expect(sessionsStarted(raced)).toBe(1);
        note(raced);
      }
      expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
      await remove(sandbox, instance);
      expectNothingLeft(sandbox);
    },
    4 * MINUTES,
  );

  test(
    'of a resume against a purge exactly one happens, wholly',
    async () => {
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
        const gone = await expectOneOutcome(raced, instance);
        note(raced);
        if (gone) instance = null;
      }
      expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
      if (instance !== null) await remove(sandbox, instance);
      expectNothingLeft(sandbox);
    },
    5 * MINUTES,
  );
});

/** The lock the product itself took for this target, read from the journal of a first load. */
async function targetLock(command: string[]): Promise<string> {
  const first = await sandbox.jackin(command);
  const { instance_id: id, container_base: base } = first.json().data;
  const locks = readJournal(sandbox.journal).filter(
    ({ type, state }) => type === 'lock' && state === 'acquired',
  );
  await remove(sandbox, { id, base });
  return locks.map(({ path }) => path).find((path) => /\/target-[^/]+$/.test(path));
}

/** The results ordered by exit code, which must be exactly these. */
function byCode(raced: RaceResult, codes: [number, number]): [CliResult, CliResult] {
  const sorted = [...raced.results].sort((a, b) => (a.code ?? -1) - (b.code ?? -1));
  const said = raced.results.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  expect({ codes: sorted.map(({ code }) => code), said }).toEqual({ codes, said });
  return sorted as [CliResult, CliResult];
}

function note(raced: RaceResult): void {
  if (raced.overlapped) overlaps += 1;
}

const capsulesStarted = (raced: RaceResult) => beganAs(raced, 'start_container');
const sessionsStarted = (raced: RaceResult) => beganAs(raced, 'start_session');
function beganAs(raced: RaceResult, op: string): number {
  return stepsBegun(raced.lines).filter((step) => step.endsWith(`-${op}`)).length;
}

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

/** True: it was purged. */
async function expectOneOutcome(raced: RaceResult, instance: Instance): Promise<boolean> {
  const [resumed, purged] = raced.results as [CliResult, CliResult];
  const [, loser] = byCode(raced, [0, 1]);
  const { code, message } = loser.json().error;
  expect(message).toContain(instance.base);
  if (purged.code === 0) {
    expect(['INSTANCE_GONE', 'INSTANCE_NOT_FOUND']).toContain(code);
    expect(beganAs(raced, 'start_container')).toBe(0);
    expect(await sandbox.traces(instance)).toEqual([]);
    return true;
  }
  expect(['STATE_CHANGED', 'INSTANCE_BUSY', 'LOCK_HELD']).toContain(code);
  expect(resumed.json().data).toMatchObject({ tier: 1, status: 'running' });
  expect(sandbox.manifest(instance.base).status).toBe('running');
  expect(hasNotes(sandbox, instance)).toBe(true);
  return false;
}
