import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  expectNothingLeft,
  hasNotes,
  type Instance,
  killInstance,
  loadArgs,
  processesOf,
  remove,
  statusOf,
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
  /** The instance is not needed any more: everything that is left of it can go. */
  judge(killed: Killed): Promise<void>;
}

interface Killed {
  /** Null when the command was killed before it had a name for a new one. */
  instance: Instance;
  /** The steps that had begun, the last of which may or may not be done. */
  begun: string[];
  row: Record<string, any> | null;
  alive: boolean;
}

describe('SIGKILL of a jackin in every step of its plan leaves an honest state, and the next command converges', () => {
  test(
    'of a load',
    async () => {
      await inEveryStep({
        prepare: async () => null,
        args: () => loadArgs(sandbox),
        async judge({ instance, row }) {
          const again = await sandbox.jackin(loadArgs(sandbox));
          if (row === null) {
            expect(again.code).toBe(0);
            const { instance_id: id, container_base: base } = again.json().data;
            return remove(sandbox, { id, base });
          }
          expect(again.code).toBe(3);
          expect(again.json().error.message).toContain(instance.base);
          await expectResumable(instance);
          await remove(sandbox, instance);
        },
      });
    },
    5 * MINUTES,
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
        async judge({ row }) {
          expect(row).not.toBeNull();
          await expectResumable(instance);
          expect(hasNotes(sandbox, instance)).toBe(true);
        },
      });
      await remove(sandbox, instance);
    },
    5 * MINUTES,
  );

  test(
    'of a stop with --clean',
    async () => {
      await inEveryStep({
        prepare: loadWithNotes,
        args: (instance) => ['stop', instance?.id ?? '', '--clean', '--json'],
        judge: expectCleanable,
      });
    },
    5 * MINUTES,
  );

  test(
    'of a purge',
    async () => {
      await inEveryStep({
        prepare: loadWithNotes,
        args: (instance) => ['purge', instance?.id ?? '', '--yes', '--json'],
        judge: expectCleanable,
      });
    },
    5 * MINUTES,
  );
});

/** The kill points are the steps of the plan that `--dry-run` prints and that an undisturbed run does. */
async function inEveryStep(verb: Verb): Promise<void> {
  const planned = await plannedSteps(verb);
  expect(planned.length).toBeGreaterThan(5);
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
  expect([...points]).toEqual(planned.map((_, at) => at + 1));
  expectNothingLeft(sandbox);
}

async function plannedSteps(verb: Verb): Promise<string[]> {
  const instance = await verb.prepare();
  const dry = await sandbox.jackin([...verb.args(instance), '--dry-run']);
  const planned = dry.json().data.plan.steps.map(({ op }: { op: string }) => op);
  const undisturbed = begin(sandbox, verb.args(instance));
  expect((await undisturbed.done).code).toBe(0);
  const lines = undisturbed.lines();
  expect(opsBegun(lines)).toEqual(planned);
  await verb.judge({ instance: instanceOf(lines, instance), begun: planned, row: null, alive: false });
  return planned;
}

const opsBegun = (lines: JournalLine[]) => stepsBegun(lines).map((step) => step.replace(/^.*\d\d-/, ''));
