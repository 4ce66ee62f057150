import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { guardBarrier, lockBarrier, type RaceResult, race } from './support/barrier.ts';
import {
  expectNothingLeft,
  expectOnly,
  hasNotes,
  type Instance,
  instanceLock,
  killInstance,
  loadArgs,
  remove,
  statusOf,
  writeNotes,
} from './support/instance.ts';
import { stepsBegun } from './support/journal.ts';
import { begin } from './support/moments.ts';
import { type CliResult, createSandbox, type Sandbox } from './support/sandbox.ts';

const REPETITIONS = 20;
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
      const target = await targetLockName();
      await inFreshState(async (state, last) => {
        const lock = join(state.state, 'data', target);
        const command = loadArgs(state);
        const raced = await race(state, await lockBarrier(state, lock), lock, [command, command]);
        const [started, refused] = byCode(raced, [0, 3]);
        const { instance_id: id, container_base: base } = started.json().data;
        const { code, message, hint, details } = refused.json().error;
        expect(code).toBe('DECISION_NEEDED');
        expect(message).toContain(base);
        expect(hint).toContain(`--instance ${id}`);
        expect(details.candidates.map((row: { instance_id: string }) => row.instance_id)).toEqual([id]);
        await expectStarted(state, raced, [{ id, base }], last);
      });
    },
    10 * MINUTES,
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
        await expectStarted(state, raced, instances, last);
      });
    },
    10 * MINUTES,
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
        expect(beganAs(raced, 'start_container')).toBe(1);
        expect(beganAs(raced, 'start_session')).toBe(1);
        note(raced);
      }
      expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
      await remove(sandbox, instance);
      expectNothingLeft(sandbox);
    },
    10 * MINUTES,
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
    10 * MINUTES,
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
  expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
}

/** As many capsules as instances, and nothing beside them; at last not even those. */
async function expectStarted(
  state: Sandbox,
  raced: RaceResult,
  instances: Instance[],
  last: boolean,
): Promise<void> {
  note(raced);
  expect(beganAs(raced, 'start_container')).toBe(instances.length);
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
