import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JackinError, toJackinError } from '@jackin/core';
import { planClean, REMOVING_OPS, type StepOp } from '@jackin/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { snapshot } from './support/evidence.ts';
import { hasNotes, type Instance, killInstance, writeNotes } from './support/instance.ts';
import { FAULTS, type Fault, type Library, LOAD, type Method, openLibrary } from './support/library.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';

const MINUTES = 60_000;
const quiet = { acceptLoss: false, allowDrift: false, dryRun: false } as const;

let sandbox: Sandbox;

describe('an isolated tree that still exists', () => {
  let instance: Instance;
  let tree: string;

  beforeEach(async () => {
    sandbox = createSandbox();
    instance = await sandbox.loadShell(['sleep', '1000']);
    await killInstance(instance);
    const data = join(sandbox.state, 'data', instance.base);
    tree = join(data, 'git/worktree/repo/w', instance.base);
    mkdirSync(tree, { recursive: true });
    writeFileSync(join(tree, 'only-copy'), 'work');
    writeFileSync(join(data, '.jackin/isolation.json'), isolationOf(instance, tree), { mode: 0o600 });
    // What ended it is recorded, so that a look has nothing to correct.
    await sandbox.jackin(['status']);
  });
  afterEach(() => sandbox.dispose());

  test(
    'whose work nobody can tell is given up only by a purge whose name was typed',
    async () => {
      let title = '';
      const { jackin, removals } = openLibrary(sandbox, {
        confirm: async (question) => {
          title = `${question.title} ${question.mustType}`;
          return false;
        },
      });
      const before = snapshot(sandbox.state);
      const forced = await sandbox.jackin(['purge', instance.id, '--force', '--json']);
      expect([forced.code, forced.json().error.code]).toEqual([3, 'WORK_UNKNOWN']);
      expect(await jackin.purge(purgeOf(instance))).toMatchObject({ kind: 'cancelled' });
      expect(title).toContain(`purge ${instance.base} ${instance.id}`);
      expect(removals()).toEqual([]);
      expect(withoutLocks(snapshot(sandbox.state))).toEqual(withoutLocks(before));
      const typed = openLibrary(sandbox, { confirm: async () => true });
      expect(await typed.jackin.purge(purgeOf(instance))).toMatchObject({ document: { outcome: 'cleaned' } });
      expect(await sandbox.traces(instance)).toEqual([]);
    },
    2 * MINUTES,
  );

  test(
    'is not removed by a plan made before it changed, whether that was decided here or printed by --dry-run',
    async () => {
      const library = openLibrary(sandbox);
      const facts = await library.facts(instance);
      const decided = planClean({
        planId: 'here',
        now: new Date().toISOString(),
        facts,
        nonce: 'nonce-nonce',
        graceMs: 0,
        purpose: 'purge',
        consent: 'named',
      });
      const printed = await sandbox.jackin(['purge', instance.id, '--dry-run', '--json']);
      expect(printed.json().data.plan.steps.map(({ op }: { op: string }) => op)).toEqual(
        decided.steps.map(({ op }) => op),
      );
      // What it is by now nobody has agreed to.
      mkdirSync(join(tree, '.git'));
      const before = snapshot(sandbox.state);
      for (const plan of [decided, printed.json().data.plan]) {
        expect(await refusalOf(library.execute(plan, instance))).toMatchObject({
          code: 'STATE_CHANGED',
          details: { fact: 'isolated', failed_step: { op: 'record_status' }, done_steps: [], removed: [] },
        });
      }
      expect(withoutLocks(snapshot(sandbox.state))).toEqual(withoutLocks(before));
    },
    MINUTES,
  );

  test(
    'keeps its instance also when its record is lost',
    async () => {
      rmSync(join(sandbox.state, 'data', instance.base, '.jackin/isolation.json'));
      const purged = await sandbox.jackin(['purge', instance.id, '--force', '--json']);
      expect([purged.code, purged.json().error.code]).toEqual([3, 'WORK_UNKNOWN']);
      const stopped = await sandbox.jackin(['stop', instance.id, '--clean', '--json']);
      expect(stopped.json().data.outcome).toBe('kept');
      expect(existsSync(join(tree, 'only-copy'))).toBe(true);
      expect(sandbox.manifest(instance.base).status).not.toBe('purged');
    },
    MINUTES,
  );
});

/** The commands that end an instance. */
const VERBS = {
  'stop --clean': ({ jackin }: Library, { id }: Instance) =>
    jackin.stop({ instance: id, policy: 'clean', dryRun: false }),
  'purge --yes': ({ jackin }: Library, instance: Instance) => jackin.purge(purgeOf(instance)),
  eject: ({ jackin }: Library, { id }: Instance) => jackin.eject({ instance: id, dryRun: false }),
  exile: ({ jackin }: Library) => jackin.exile({ yes: true, dryRun: false }),
} as const;
type Verb = keyof typeof VERBS;
const verbs = Object.keys(VERBS) as Verb[];

const by = (error: string, hang: string, nonsense: string) => ({ error, hang, nonsense });
const CALL = ['OUTSIDE_CALL_FAILED', 'OUTSIDE_CALL_TIMEOUT'] as const;
const UNSEEN = 'ENGINE_UNREACHABLE';
const UNASKED = 'AGENT_STATE_UNKNOWN';

/** The error each failing method leads to; all of these stop before anything is taken away. */
const NAMED: Partial<Record<Method, Record<Fault, string>>> = {
  observe: by(UNSEEN, UNSEEN, UNSEEN),
  capsule: by(UNASKED, UNASKED, UNASKED),
  stop: by(...CALL, ''),
  endLeftovers: by(...CALL, 'BACKEND_ANSWER_INVALID'),
  remove: by(...CALL, 'BACKEND_ANSWER_INVALID'),
};
const cases = Object.entries(NAMED).flatMap(([method, codes]) =>
  FAULTS.flatMap((fault) =>
    verbs.map((verb) => ({ method: method as Method, fault, verb, code: codes[fault] })),
  ),
);
/** An agent that cannot be asked is ended by `stop`; where the backend's own stop does nothing, the capsule's may do. */
const goesThrough = ({ method, fault, verb }: (typeof cases)[number]) =>
  (method === 'capsule' && verb === 'stop --clean') || (method === 'stop' && fault === 'nonsense');

/** Far above the bounds of the calls, far below a hang. */
const LIMIT_MS = 45_000;

describe('a backend that fails at one method', () => {
  let instance: Instance | null = null;

  beforeAll(() => {
    sandbox = createSandbox();
  });
  afterAll(() => sandbox.dispose());

  test.each(cases.filter((one) => !goesThrough(one)))(
    '$method ($fault): $verb ends in time with $code, and nothing is taken away',
    async ({ method, fault, verb, code }) => {
      const subject = await running();
      const library = openLibrary(sandbox, { fault: { methods: [method], fault } });
      expect(await failures(verb, library, subject)).toEqual([code]);
      expect(library.removals()).toEqual([]);
      expect(hasNotes(sandbox, subject)).toBe(true);
      expect((await openLibrary(sandbox).facts(subject)).data_dir).toBe('yes');
    },
    2 * MINUTES,
  );

  test.each(cases.filter(goesThrough))(
    '$method ($fault): $verb takes away only what was then seen at rest',
    async ({ method, fault, verb }) => {
      const subject = await running();
      const library = openLibrary(sandbox, { fault: { methods: [method], fault } });
      const codes = await failures(verb, library, subject);
      expect(removedAtRest(library)).toBe(true);
      // A capsule that closed its socket may still be about to go when it is looked at: that is no stop.
      expect([[], ['STOP_FAILED']]).toContainEqual(codes);
      if (codes.length > 0) expect(library.removals()).toEqual([]);
      if (library.removals().includes('remove_data_dir')) {
        expect(await sandbox.traces(subject)).toEqual([]);
        instance = null;
      } else expect(hasNotes(sandbox, subject)).toBe(true);
    },
    2 * MINUTES,
  );

  test.each(FAULTS)(
    'create, start, rename, pinImage, changedPaths and doctor (%s) are no part of ending an instance',
    async (fault) => {
      const methods: Method[] = ['create', 'start', 'rename', 'pinImage', 'changedPaths', 'doctor'];
      const library = openLibrary(sandbox, { fault: { methods, fault } });
      for (const verb of ['eject', 'exile', 'purge --yes'] as const) {
        const subject = await running();
        expect(await failures(verb, library, subject)).toEqual([]);
        if (verb === 'purge --yes') expect(await sandbox.traces(subject)).toEqual([]);
      }
      instance = null;
    },
    3 * MINUTES,
  );

  test.each(FAULTS)(
    'changedPaths (%s) keeps no session from coming back, and doctor tells what does not answer',
    async (fault) => {
      const subject = await running();
      await killInstance(subject);
      const { jackin } = openLibrary(sandbox, { fault: { methods: ['changedPaths', 'doctor'], fault } });
      const request = { instance: subject.id, policy: null, detach: true, ...quiet };
      expect(await jackin.resume(request)).toMatchObject({ document: { tier: 1, status: 'running' } });
      const examined = await jackin.doctor();
      if (examined.kind !== 'doctor') throw new Error('doctor has another answer');
      expect(examined.exitCode).toBe(1);
      expect(examined.document.findings).toContainEqual(
        expect.objectContaining({ check: 'standalone', severity: 'error' }),
      );
    },
    2 * MINUTES,
  );

  test.each(['create', 'start'] as const)(
    '%s: a resume that fails leaves the session as it was, and the next one brings it back',
    async (method) => {
      for (const fault of FAULTS) {
        const subject = await running();
        await killInstance(subject);
        await sandbox.jackin(['status']);
        const before = sandbox.manifest(subject.base);
        const library = openLibrary(sandbox, { fault: { methods: [method], fault } });
        const request = { instance: subject.id, policy: null, detach: true, ...quiet };
        const { code } = await refusalOf(library.jackin.resume(request));
        expect([fault, code]).toEqual([fault, by(...CALL, 'BACKEND_ANSWER_INVALID')[fault]]);
        expect(library.removals()).toEqual([]);
        const { status, exit_cause: cause } = sandbox.manifest(subject.base);
        expect({ status, cause }).toEqual({ status: before.status, cause: before.exit_cause });
        expect(hasNotes(sandbox, subject)).toBe(true);
      }
    },
    3 * MINUTES,
  );

  /** A running instance with a file in its HOME: the last one again, as far as it can come back. */
  async function running(): Promise<Instance> {
    const real = openLibrary(sandbox);
    if (instance !== null) {
      const last = instance;
      // A capsule that was told to end may still be about to.
      await eventually(`${last.base} answers or has ended`, async () => {
        const { observation, capsule } = await real.facts(last);
        return observation.container.state !== 'running' || capsule.state === 'answers';
      });
      if (sandbox.manifest(last.base).status === 'purged') {
        // Its clean-up had begun, which is honest; the next command finishes it.
        await real.jackin.purge(purgeOf(last));
        expect(await sandbox.traces(last)).toEqual([]);
        instance = null;
      }
    }
    if (instance === null) {
      const result = await real.jackin.load(LOAD);
      if (result.kind !== 'load') throw new Error('nothing was loaded');
      instance = { id: result.document.instance_id, base: result.document.container_base };
      writeNotes(sandbox, instance);
    } else {
      await real.jackin.resume({ instance: instance.id, policy: null, detach: true, ...quiet });
    }
    return instance;
  }
});

/** The codes a command ended with; for exile those of its report. */
async function failures(verb: Verb, library: Library, subject: Instance): Promise<string[]> {
  const startedAtMs = performance.now();
  const outcome = await VERBS[verb](library, subject).catch(toJackinError);
  expect(performance.now() - startedAtMs).toBeLessThan(LIMIT_MS);
  if (outcome instanceof JackinError) return [outcome.code];
  return outcome.kind === 'exile' ? outcome.document.failed.map(({ error }) => error.code) : [];
}

/** Whether every removing step came after a stop that was done. */
function removedAtRest({ events }: Library): boolean {
  const ops = events.flatMap((event) =>
    event.type === 'step' && event.state === 'done' ? [event.op as StepOp] : [],
  );
  const removal = ops.findIndex((op) => REMOVING_OPS.has(op));
  return removal === -1 || ops.slice(0, removal).includes('stop_container');
}

function purgeOf({ id }: Instance) {
  return { instance: id, yes: true, force: false, dryRun: false };
}

async function refusalOf(promise: Promise<unknown>) {
  return promise.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: unknown) => toJackinError(error),
  );
}

/** Locks that were taken and given back again leave a new owner record. */
function withoutLocks(entries: string[]): string[] {
  return entries.filter((entry) => !/\.lock |locks\.db /.test(entry));
}

function isolationOf({ base }: Instance, path: string): string {
  const record = {
    workspace: 'w',
    mount_dst: '/w',
    original_src: '/src/w',
    isolation: 'worktree',
    worktree_path: path,
    scratch_branch: `jackin/scratch/${base}`,
    base_commit: '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
    selector_key: 'shell',
    container_name: base,
    cleanup_status: 'active',
  };
  return `${JSON.stringify({ version: 1, records: [record] }, null, 2)}\n`;
}
