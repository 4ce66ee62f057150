import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { guardBarrier, lockBarrier, type RaceResult, race } from '../e2e/support/barrier.ts';
import { expectNothingLeft, expectOnly, instanceLock } from '../e2e/support/instance.ts';
import { type JournalLine, stepsBegun } from '../e2e/support/journal.ts';
import { begin, lockLine, stepBegins } from '../e2e/support/moments.ts';
import type { CliResult } from '../e2e/support/sandbox.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { ALL, kept, seenInside, writeAll } from './support/files.ts';
import { inventory } from './support/inventory.ts';

const REPETITIONS = 20;
const MINUTES = 60_000;
const LIMIT = 20 * MINUTES;
const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];

await describeOnEngine('disaster', 'two real jackins at once on an engine, 20 times each', (lab) => {
  let sandbox: EngineSandbox;
  /** With the image of the role. */
  let before: string[];
  let overlaps: number;

  beforeAll(async () => {
    sandbox = createEngineSandbox(lab());
    await remove(await sandbox.load(WORKING));
    before = await inventory(lab().docker);
  }, 5 * MINUTES);
  beforeEach(() => {
    overlaps = 0;
  });
  afterAll(() => sandbox.dispose(), 5 * MINUTES);

  /** Nothing is left of it, nor of anything else. */
  async function remove(instance: Instance): Promise<void> {
    // A killed one goes faster.
    await sandbox
      .container(instance)
      .kill()
      .catch(() => {});
    const { code, stdout } = await sandbox.jackin(['purge', instance.id, '--yes', '--force', '--json']);
    expect({ code, stdout }).toEqual({ code: 0, stdout });
    expect(await sandbox.traces(instance)).toEqual([]);
    expect(await sandbox.onEngine(instance)).toEqual([]);
  }

  async function expectAllOver(): Promise<void> {
    expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
    expectNothingLeft(sandbox);
    expect(await inventory(lab().docker)).toEqual(before);
  }

  async function working(): Promise<Instance> {
    const instance = await sandbox.load(WORKING);
    await writeAll(sandbox, instance);
    return instance;
  }

  async function kill(instance: Instance): Promise<void> {
    const container = sandbox.container(instance);
    if ((await container.inspect()).State.Running) await container.kill();
    await container.wait();
  }

  function note(raced: RaceResult): void {
    if (raced.overlapped) overlaps += 1;
  }

  test(
    'of two plain loads of one directory one starts, and the other exits 3 naming it',
    async () => {
      const what = ['load', 'shell', sandbox.project, '--agent', 'shell', '--backend', 'docker', '--detach'];
      const command = [...what, '--json', '--', ...WORKING];
      const first = begin(sandbox, command);
      const { instance_id, container_base } = (await first.done).json().data;
      const paths = first.lines().map(({ path }) => basename(path ?? ''));
      const lock = join(sandbox.state, 'data', String(paths.find((name) => name.startsWith('target-'))));
      await remove(sandbox.adopt({ id: instance_id, base: container_base }));
      for (let round = 0; round < REPETITIONS; round += 1) {
        const raced = await race(sandbox, await lockBarrier(sandbox, lock), lock, [command, command]);
        const [started, refused] = byCode(raced, [0, 3]);
        const { instance_id: id, container_base: base } = started.json().data;
        const instance = sandbox.adopt({ id, base });
        const { code, message, hint, details } = refused.json().error;
        expect(code).toBe('DECISION_NEEDED');
        expect(message).toContain(base);
        expect(hint).toContain(`--instance ${id}`);
        expect(details.candidates.map((row: { instance_id: string }) => row.instance_id)).toEqual([id]);
        expect(beganAs(raced.lines, 'start_container')).toBe(1);
        expectOnly(sandbox, [instance]);
        expect(await addedToEngine()).toEqual([`container /${base}`, `network ${base}-net`]);
        note(raced);
        await remove(instance);
      }
      await expectAllOver();
    },
    LIMIT,
  );

  test(
    'of two resumes of one instance one starts it, and the other joins that one',
    async () => {
      const instance = await working();
      const { Id: id } = await sandbox.container(instance).inspect();
      const lock = instanceLock(sandbox, instance);
      const command = ['resume', instance.id, '--detach', '--json'];
      for (let round = 0; round < REPETITIONS; round += 1) {
        await kill(instance);
        const raced = await race(sandbox, await lockBarrier(sandbox, lock), lock, [command, command]);
        const documents = byCode(raced, [0, 0]).map((result) => result.json().data);
        const [joined, started] = documents.sort((a, b) => a.tier - b.tier);
        expect(started).toMatchObject({ tier: 1, status: 'running', cause: 'killed' });
        expect(joined).toMatchObject({ tier: 0, status: 'running', cause: null, did_not_return: [] });
        expect(beganAs(raced.lines, 'start_container')).toBe(1);
        expect(beganAs(raced.lines, 'start_session')).toBe(1);
        expect((await sandbox.container(instance).inspect()).Id).toBe(id);
        note(raced);
      }
      expect(await seenInside(sandbox, instance)).toEqual(ALL);
      await remove(instance);
      await expectAllOver();
    },
    LIMIT,
  );

  test(
    'of a resume against a purge exactly one happens, wholly',
    async () => {
      let instance: Instance | null = null;
      for (let round = 0; round < REPETITIONS; round += 1) {
        instance ??= await working();
        await kill(instance);
        expect(await sandbox.status(instance)).toMatchObject({ status: 'stopped', cause: 'killed' });
        // Both have looked at a stopped instance and decided; the lock is all they still need.
        const raced = await race(sandbox, guardBarrier(sandbox), instanceLock(sandbox, instance), [
          ['resume', instance.id, '--detach', '--json'],
          ['purge', instance.id, '--yes', '--json'],
        ]);
        const gone = await expectOneOutcome(raced, instance);
        note(raced);
        if (gone) instance = null;
      }
      if (instance !== null) await remove(instance);
      await expectAllOver();
    },
    LIMIT,
  );

  describe('of a resume while the engine is restarted', () => {
    /** When the engine is told to stop: as soon as this is in the journal of the resume. */
    const moments: [string, (lines: JournalLine[], instance: Instance) => unknown][] = [
      ['it looks', (lines) => lines[0]],
      ['it has the lock', (lines, one) => lines.find(lockLine(instanceLock(sandbox, one), 'acquired'))],
      ...(['create_resources', 'start_container', 'start_session'] as const).map(
        (op): [string, (lines: JournalLine[]) => unknown] => [op, (lines) => lines.find(stepBegins(op))],
      ),
    ];

    test(
      'nothing is lost, status is honest, and the next resume works',
      async () => {
        const instance = await working();
        const { Id: id } = await sandbox.container(instance).inspect();
        const outcomes: string[] = [];
        for (let round = 0; round < REPETITIONS; round += 1) {
          const [title, moment] = moments[round % moments.length] as (typeof moments)[number];
          await kill(instance);
          const resume = begin(sandbox, ['resume', instance.id, '--detach', '--json']);
          await resume.until((lines) => moment(lines, instance) ?? undefined);
          const stoppedAt = new Date().toISOString();
          await lab().engineStop();
          await lab().start();
          const result = await resume.done;
          if (resume.lines().some(({ at }) => at > stoppedAt)) overlaps += 1;
          outcomes.push(`${title}: ${expectNamed(result)}`);

          await expectHonest(instance);
          expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
          const again = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
          const { code, stdout } = again;
          expect({ outcomes, code, stdout }).toEqual({ outcomes, code: 0, stdout });
          expect([0, 1]).toContain(again.json().data.tier);
          expect(await seenInside(sandbox, instance)).toEqual(ALL);
          expect((await sandbox.container(instance).inspect()).Id).toBe(id);
          expect(await addedToEngine()).toEqual([
            `container /${instance.base}`,
            `network ${instance.base}-net`,
          ]);
        }
        await remove(instance);
        // The networks that every engine has are others after each of its starts.
        before = before.map(withoutId);
        expect(overlaps).toBeGreaterThanOrEqual(REPETITIONS / 2);
        expectNothingLeft(sandbox);
        expect((await inventory(lab().docker)).map(withoutId)).toEqual(before);
      },
      LIMIT,
    );
  });

  /** What the engine says and what `status` says are the same thing. */
  async function expectHonest(instance: Instance): Promise<void> {
    const row = await sandbox.status(instance);
    const { State: state } = await sandbox.container(instance).inspect();
    const { status, exit_cause: cause } = sandbox.manifest(instance.base);
    if (state.Running) {
      expect(row).toMatchObject({ status: 'running', container: 'running', agent_alive: 'yes', cause: null });
    } else {
      expect(row).toMatchObject({ container: 'stopped', agent_alive: 'no', exit_pending: false });
      expect(['host_lost', 'stopped']).toContain(row.status);
      expect(['engine_restart', 'killed', 'stopped_by_other']).toContain(row.cause);
    }
    expect([status, cause?.kind ?? null]).toEqual([row.status, row.cause]);
  }

  /** Kind and name of what there is beside what was there at first. */
  async function addedToEngine(): Promise<string[]> {
    const known = before.map(withoutId);
    const now = (await inventory(lab().docker)).map(withoutId);
    expect(known.filter((line) => !now.includes(line))).toEqual([]);
    return now.filter((line) => !known.includes(line));
  }

  const withoutId = (line: string) => (line.startsWith('image ') ? line : line.split(' ', 2).join(' '));

  /** True: it was purged. */
  async function expectOneOutcome(raced: RaceResult, instance: Instance): Promise<boolean> {
    const [resumed, purged] = raced.results as [CliResult, CliResult];
    const [, loser] = byCode(raced, [0, 1]);
    const { code, message } = loser.json().error;
    expect(message).toContain(instance.base);
    if (purged.code === 0) {
      expect(['INSTANCE_GONE', 'INSTANCE_NOT_FOUND']).toContain(code);
      expect(beganAs(raced.lines, 'start_container')).toBe(0);
      expect(await sandbox.traces(instance)).toEqual([]);
      expect(await inventory(lab().docker)).toEqual(before);
      return true;
    }
    expect(['STATE_CHANGED', 'INSTANCE_BUSY', 'LOCK_HELD']).toContain(code);
    expect(resumed.json().data).toMatchObject({ tier: 1, status: 'running' });
    expect(sandbox.manifest(instance.base).status).toBe('running');
    expect(await seenInside(sandbox, instance)).toEqual(ALL);
    return false;
  }
});

/** Done, or an error that has a name and says what to do. */
function expectNamed(result: CliResult): string {
  expect(result.stderr).not.toMatch(/ {4}at /);
  if (result.code === 0) return 'done';
  const { code, hint } = result.json().error;
  expect([result.code, code]).not.toEqual([1, 'INTERNAL']);
  expect(hint).toEqual(expect.stringMatching(/\S/));
  return code;
}

/** The results ordered by exit code, which must be exactly these. */
function byCode(raced: RaceResult, codes: [number, number]): [CliResult, CliResult] {
  const sorted = [...raced.results].sort((a, b) => (a.code ?? -1) - (b.code ?? -1));
  const said = raced.results.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  expect({ codes: sorted.map(({ code }) => code), said }).toEqual({ codes, said });
  return sorted as [CliResult, CliResult];
}

function beganAs(lines: JournalLine[], op: string): number {
  return stepsBegun(lines).filter((step) => step.endsWith(`-${op}`)).length;
}
