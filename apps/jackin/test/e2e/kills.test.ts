import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  expectNothingLeft,
  hasNotes,
  type Instance,
  killInstance,
  loadArgs,
  processesOf,
  remove,
  statusDocument,
  writeNotes,
} from './support/instance.ts';
import { type JournalLine, stepsBegun } from './support/journal.ts';
import { begin } from './support/moments.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

const MINUTES = 60_000;
/** A kill that came too late for its step is judged like every other, and the step gets another one. */
const TRIES = 5;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

interface Verb {
  /** The instance it is about; null: it makes one. */
  prepare(): Promise<Instance | null>;
  args(instance: Instance | null): string[];
  /** After a run that nobody killed. */
  undisturbed(instance: Instance): Promise<void>;
  /** What is right for this verb; after it the next instance can come. */
  judge(killed: Killed): Promise<void>;
}

interface Killed {
  instance: Instance;
  /** The steps that had begun; the last one may or may not be done. */
  begun: string[];
  /** What `status` shows, its notices included. */
  row: Record<string, any> | null;
  notices: string[];
}

describe('SIGKILL of a jackin in every step of its plan leaves an honest state, and the next command converges', () => {
  test(
    'of a load',
    async () => {
      await inEveryStep({
        prepare: async () => null,
        args: () => loadArgs(sandbox),
        undisturbed: (instance) => removeWholly(instance),
        async judge({ instance, row }) {
          const again = await sandbox.jackin(loadArgs(sandbox));
          if (row === null) {
            expect(again.code).toBe(0);
            const { instance_id: id, container_base: base } = again.json().data;
            return removeWholly({ id, base });
          }
          expect(again.code).toBe(3);
          expect(again.json().error.details.candidates).toMatchObject([{ instance_id: instance.id }]);
          await expectResumable(instance);
          await removeWholly(instance);
        },
      });
    },
    10 * MINUTES,
  );

  test(
    'of a resume',
    async () => {
      const instance = await loadWithNotes();
      await inEveryStep({
        async prepare() {
          await killInstance(instance);
          return instance;
        },
        args: () => ['resume', instance.id, '--detach', '--json'],
        undisturbed: async () => expect(hasNotes(sandbox, instance)).toBe(true),
        async judge({ row }) {
          expect(row).not.toBeNull();
          await expectResumable(instance);
          expect(hasNotes(sandbox, instance)).toBe(true);
        },
      });
      await removeWholly(instance);
    },
    10 * MINUTES,
  );

  test(
    'of a stop with --clean',
    async () => {
      await inEveryStep({
        prepare: loadWithNotes,
        args: (instance) => ['stop', instance?.id ?? '', '--clean', '--json'],
        undisturbed: expectGone,
        judge: (killed) => expectCleanable(killed, ['stop', killed.instance.id, '--clean', '--json']),
      });
      expectNothingLeft(sandbox);
    },
    10 * MINUTES,
  );

  test(
    'of a purge',
    async () => {
      await inEveryStep({
        prepare: loadWithNotes,
        args: (instance) => ['purge', instance?.id ?? '', '--yes', '--json'],
        undisturbed: expectGone,
        judge: (killed) => expectCleanable(killed, ['purge', killed.instance.id, '--yes', '--json']),
      });
      expectNothingLeft(sandbox);
    },
    10 * MINUTES,
  );
});

/**
 * The kill points are the steps an undisturbed run does: those of the plan that `--dry-run` prints, and what it first
 * had to correct in the records.
 */
async function inEveryStep(verb: Verb): Promise<void> {
  const planned = await plannedSteps(verb);
  const points = new Set<number>();
  for (let step = 1; step <= planned.length; step += 1) {
    for (let tries = 0; !points.has(step) && tries < TRIES; tries += 1) {
      const killed = await killedIn(verb, step);
      expect(killed.begun).toEqual(planned.slice(0, killed.begun.length));
      if (killed.begun.length === step) points.add(step);
      await expectHonest(killed);
      await verb.judge(killed);
    }
  }
  expect(points.size).toBe(planned.length);
}

async function plannedSteps(verb: Verb): Promise<string[]> {
  const instance = await verb.prepare();
  const dry = await sandbox.jackin([...verb.args(instance), '--dry-run']);
  const planned: string[] = dry.json().data.plan.steps.map(({ op }: { op: string }) => op);
  const run = begin(sandbox, verb.args(instance));
  expect((await run.done).code).toBe(0);
  const begun = stepsBegun(run.lines());
  expect(begun.filter((step) => !step.startsWith('reconcile/')).map(opOf)).toEqual(planned);
  await verb.undisturbed(instanceOf(run.lines()));
  return begun;
}

async function killedIn(verb: Verb, step: number): Promise<Killed> {
  const command = begin(sandbox, verb.args(await verb.prepare()));
  await command.until((lines) => stepsBegun(lines).length >= step || undefined);
  command.kill('SIGKILL');
  await command.done;
  const instance = instanceOf(command.lines());
  const document = await statusDocument(sandbox);
  return {
    instance,
    begun: stepsBegun(command.lines()),
    row: document.instances.find((row: { instance_id: string }) => row.instance_id === instance.id) ?? null,
    notices: document.notices.map(({ message }: { message: string }) => message),
  };
}

/** What is shown is what is there. */
async function expectHonest({ instance, begun, row, notices }: Killed): Promise<void> {
  const processes = await processesOf(instance.id);
  const files = await sandbox.traces(instance);
  if (row === null) {
    // Nothing but a lock nobody holds, unless a clean-up was under way, which is told.
    const told = notices.some((message) => message.includes(instance.base));
    if (!told) expect(files.filter((name) => !/\.lock(\.d)?$/.test(name))).toEqual([]);
    expect({ begun, processes }).toEqual({ begun, processes: [] });
    return;
  }
  expect({ begun, container: row.container }).toEqual({
    begun,
    container: processes.length > 0 ? 'running' : expect.stringMatching(/stopped|missing/),
  });
  if (row.status === 'running') expect(processes).not.toEqual([]);
  if (row.agent_alive === 'yes') expect(processes.length).toBeGreaterThan(1);
}

/** The state that a clean-up was killed in: whole as long as it is not called purged, and finished by the next one. */
async function expectCleanable({ instance, row, notices }: Killed, again: string[]): Promise<void> {
  if (row !== null && row.status !== 'purged') expect(hasNotes(sandbox, instance)).toBe(true);
  const { code, stdout } = await sandbox.jackin(again);
  const hint = notices.find((message) => message.includes(instance.base));
  if (row !== null || (hint !== undefined && again[0] === 'purge')) {
    expect({ code, stdout }).toEqual({ code: 0, stdout });
  } else {
    const error = hint === undefined ? 'INSTANCE_NOT_FOUND' : 'CLEANUP_INTERRUPTED';
    expect({ code, error: JSON.parse(stdout).error.code }).toEqual({ code: 1, error });
  }
  if (hint !== undefined) {
    expect(hint).toContain(`jackin purge ${instance.id}`);
    if (again[0] !== 'purge') expect((await sandbox.jackin(['purge', instance.id])).code).toBe(0);
  }
  await expectGone(instance);
}

async function removeWholly(instance: Instance): Promise<void> {
  await remove(sandbox, instance);
  expectNothingLeft(sandbox);
}

async function expectGone(instance: Instance): Promise<void> {
  expect(await sandbox.traces(instance)).toEqual([]);
}

async function expectResumable({ id }: Instance): Promise<void> {
  const { code, stdout } = await sandbox.jackin(['resume', id, '--detach', '--json']);
  expect({ code, stdout }).toEqual({ code: 0, stdout });
  expect(JSON.parse(stdout).data.status).toBe('running');
}

async function loadWithNotes(): Promise<Instance> {
  const instance = await sandbox.loadShell();
  writeNotes(sandbox, instance);
  return instance;
}

/** `kind/01-op` without what comes before the operation. */
const opOf = (step: string): string => step.replace(/^.*\/\d+-/, '');

/** The instance its plan is about. */
function instanceOf(lines: JournalLine[]): Instance {
  const plan = lines.find(({ type, container_base: base }) => type === 'plan' && base !== null);
  if (plan === undefined) throw new Error('the command began no plan');
  const base: string = plan.container_base;
  return { base, id: base.split('-')[1] ?? '' };
}
