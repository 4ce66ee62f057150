import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DiskFault } from './support/disk-fault.ts';
import { snapshot } from './support/evidence.ts';
import { hasNotes, type Instance, writeNotes } from './support/instance.ts';
import { LOAD, openLibrary } from './support/library.ts';
import type { Sandbox } from './support/sandbox.ts';
import {
  createSmallDisk,
  type FaultyResult,
  halfWritten,
  instancesIn,
  type SmallDisk,
} from './support/small-disk.ts';

const MINUTES = 60_000;
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
/** More than any command writes: a fault that is never reached must not pass for one that was survived. */
const MOST_WRITES = 80;
const FAULTS: Record<DiskFault['kind'], { code: string; hint: RegExp }> = {
  full: { code: 'DISK_FULL', hint: /^Free some space \(df -h \S+\)/ },
  readonly: { code: 'STATE_NOT_WRITABLE', hint: /^Make it writable \(findmnt -T \S+/ },
};
const loadOf = ({ project }: Sandbox) => [
  ...['load', 'shell', project, '--agent', 'shell', '--new', '--detach', '--json', '--backend', 'standalone'],
  ...['--', 'sleep', '1000'],
];

/** Small file systems of our own, which only root can mount. Several real commands for every write: a long test. */
const describeEachDisk = isRoot ? describe.each(['full', 'readonly'] as const) : () => undefined;

describeEachDisk('a state directory on a disk that is %s', (kind) => {
  let disk: SmallDisk;
  /** Kept before anything went wrong: nothing may happen to it. */
  let old: Instance;
  let oldFiles: string[];
  let count = 0;

  beforeEach(async () => {
    disk = createSmallDisk();
    old = await loaded();
    expect((await disk.jackin(['stop', old.id, '--keep'])).code).toBe(0);
    oldFiles = filesOf(old);
  });
  afterEach(() => disk.dispose());

  const filesOf = ({ base }: Instance) => snapshot(join(disk.state, 'data', base));

  async function loaded(): Promise<Instance> {
    const result = await openLibrary(disk).jackin.load(LOAD);
    if (result.kind !== 'load') throw new Error('nothing was loaded');
    const { instance_id: id, container_base: base } = result.document;
    writeNotes(disk, { id, base });
    return { id, base };
  }

  /** What has to work once the disk takes writes again. */
  type Next = (result: FaultyResult) => Promise<void>;

  /**
   * Runs a command whose write number `at` is the first one that is refused, then lets the disk take writes again.
   * @returns what was refused; null: it made fewer writes, and went through
   */
  async function refusing(at: number, args: string[], failed: string[], next: Next): Promise<string | null> {
    const result = await disk.failing(kind, at, args);
    const { refused } = result;
    if (refused === null) {
      expect([result.code, result.stdout]).toEqual([0, expect.any(String)]);
      return null;
    }
    const where = `${refused.call} ${refused.path}`;
    if (result.code !== 0) {
      failed.push(where);
      expectNamed(result, where);
    }
    // While the disk still refuses.
    expect({ where, halfWritten: halfWritten(disk) }).toEqual({ where, halfWritten: [] });
    expect({ where, files: filesOf(old) }).toEqual({ where, files: oldFiles });
    disk.heal();
    await next(result);
    expect({ where, halfWritten: halfWritten(disk) }).toEqual({ where, halfWritten: [] });
    return where;
  }

  /** The same with the first, the second, … write of the command; returns those after which it failed. */
  async function everyWrite(args: () => Promise<string[]>, next: Next): Promise<string[]> {
    const failed: string[] = [];
    for (let at = 1; at <= MOST_WRITES; at += 1) {
      if ((await refusing(at, await args(), failed, next)) === null) return failed;
    }
    throw new Error(`${MOST_WRITES} writes and no end`);
  }

  function expectNamed({ code, stdout, stderr, json }: FaultyResult, where: string): void {
    const { error } = json();
    expect({ where, code, error: error?.code, stack: /^ {4}at /m.test(stdout + stderr) }).toEqual({
      where,
      code: 1,
      error: FAULTS[kind].code,
      stack: false,
    });
    expect({ where, text: error.message }).toEqual({ where, text: expect.stringContaining(disk.state) });
    expect(error.hint).toMatch(FAULTS[kind].hint);
  }

  /** The same command again, with all the room it needs: by the binary now and then, else by the library behind it. */
  async function ended(args: string[], { id: instance }: Instance): Promise<unknown> {
    count += 1;
    if (count % 5 === 1) {
      const { code, stdout, json } = await disk.jackin(args);
      // What it said is what a failure has to show.
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('"error"') });
      return json().data;
    }
    const { jackin } = openLibrary(disk);
    const quiet = { acceptLoss: false, allowDrift: false, dryRun: false };
    const policy = args.includes('--keep') ? 'keep' : args.includes('--clean') ? 'clean' : null;
    const run = {
      resume: () => jackin.resume({ instance, policy, detach: true, ...quiet }),
      stop: () => jackin.stop({ instance, policy, dryRun: false }),
      purge: () => jackin.purge({ instance, yes: true, force: false, dryRun: false }),
    }[args[0] as 'resume' | 'stop' | 'purge'];
    const { document, exitCode } = await run();
    expect(exitCode).toBe(0);
    return document;
  }

  /** What the library's look, which writes nothing, makes of an instance. */
  async function statusOf(instance: Instance): Promise<string | undefined> {
    const result = await openLibrary(disk).jackin.status({ instance: null, detail: false, sizes: false });
    if (result.kind !== 'status') throw new Error('not a status');
    expect(result.document.corrupt).toEqual([]);
    return result.document.instances.find(({ instance_id: id }) => id === instance.id)?.status;
  }

  test(
    'O58: refuses a load at each of its writes by name; what it made so far can be used or removed',
    async () => {
      const resumed = new Set<string>();
      const failed = await everyWrite(
        async () => loadOf(disk),
        async (result) => {
          const made = instancesIn(disk.state).filter(({ id }) => id !== old.id);
          expect(made.length).toBeLessThanOrEqual(1);
          for (const instance of made) {
            const step = result.json().error?.details.failed_step.op ?? 'none';
            // What cannot be taken back while it is being made is found by the next look.
            if (!['none', 'create_instance'].includes(step)) {
              expect(result.json().error.message).toContain(instance.base);
            }
            const status = await statusOf(instance);
            expect(status).toMatch(/^(failed_setup|restore_available|crashed|running|active)$/);
            // Once for each place where it can break off, so that the whole takes its time and no more.
            if (!resumed.has(step)) {
              const { code, json } = await disk.jackin(['resume', instance.id, '--detach', '--json']);
              expect([step, code, json().data?.status]).toEqual([step, 0, 'running']);
              resumed.add(step);
            }
            const purge = { instance: instance.id, yes: true, force: false, dryRun: false };
            await openLibrary(disk).jackin.purge(purge);
            expect(await disk.traces(instance)).toEqual([]);
          }
        },
      );
      expect(failed.length).toBeGreaterThanOrEqual(10);
      expect(resumed.size).toBeGreaterThanOrEqual(3);
      // The last one went through; nothing but what lives is there.
      expect(leftovers()).toEqual([]);
    },
    8 * MINUTES,
  );

  test(
    'O58: refuses resume and stop --keep at each of their writes by name; nothing of the session is lost',
    async () => {
      const session = await loaded();
      const resume = ['resume', session.id, '--detach', '--json'];
      const keep = ['stop', session.id, '--keep', '--json'];
      expect((await disk.jackin(keep)).code).toBe(0);
      const again = (args: string[], status: string) => async () => {
        expect(hasNotes(disk, session)).toBe(true);
        expect(await statusOf(session)).not.toMatch(/purged|undefined/);
        expect(await ended(args, session)).toMatchObject({ status });
      };
      const resumes: string[] = [];
      const keeps: string[] = [];
      for (let at = 1, more = true; more; at += 1) {
        expect(at).toBeLessThan(MOST_WRITES);
        const refusals = [
          await refusing(at, resume, resumes, again(resume, 'running')),
          await refusing(at, keep, keeps, again(keep, 'restore_available')),
        ];
        more = refusals.some((refused) => refused !== null);
      }
      expect(Math.min(resumes.length, keeps.length)).toBeGreaterThanOrEqual(5);
      expect(leftovers()).toEqual([]);
    },
    8 * MINUTES,
  );

  test(
    'O58: refuses stop --clean at each of its writes by name; the next command finishes it',
    async () => {
      let session: Instance;
      const clean = async () => {
        session = await loaded();
        return ['stop', session.id, '--clean', '--json'];
      };
      const failed = await everyWrite(clean, async (result) => {
        if (result.code === 0) return expect(await disk.traces(session)).toEqual([]);
        const status = await statusOf(session);
        // Without its manifest only the row still tells about it, and that a clean-up had begun.
        const begun = status === 'purged' || status === undefined;
        if (!begun) expect(hasNotes(disk, session)).toBe(true);
        const next = begun
          ? ['purge', session.id, '--yes', '--json']
          : ['stop', session.id, '--clean', '--json'];
        expect(await ended(next, session)).toMatchObject({ outcome: 'cleaned' });
        expect(await disk.traces(session)).toEqual([]);
      });
      expect(failed.length).toBeGreaterThanOrEqual(8);
      expect(leftovers()).toEqual([]);
    },
    8 * MINUTES,
  );

  /** What no instance needs: half-made directories, parts of writes, locks without an instance. */
  function leftovers(): string[] {
    const bases = instancesIn(disk.state).map(({ base }) => base);
    const expected = ['instances.json', 'instances.json.lock', 'locks.db'];
    return readdirSync(join(disk.state, 'data'), { recursive: true })
      .map(String)
      .filter((path) => !path.includes('/') || path.endsWith('.jktmp'))
      .filter((name) => !expected.includes(name) && !bases.includes(name.replace(/\.lock$/, '')));
  }
});
