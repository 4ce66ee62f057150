import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { instanceLock } from '../e2e/support/instance.ts';
import type { JournalLine } from '../e2e/support/journal.ts';
import { begin, lockLine, stepBegins } from '../e2e/support/moments.ts';
import { overlapCount, REPETITIONS } from '../e2e/support/racing.ts';
import type { CliResult } from '../e2e/support/sandbox.ts';
import type { Instance } from './support/engine-sandbox.ts';
import { ALL, kept, seenInside } from './support/files.ts';
import { createRing, type Ring } from './support/racing.ts';

const MINUTES = 60_000;

await describeOnEngine('disaster', 'a real resume while the engine is restarted, 20 times', (lab) => {
  let ring: Ring;

  beforeAll(async () => {
    ring = await createRing(lab());
  }, 5 * MINUTES);
  afterAll(() => ring?.dispose(), 5 * MINUTES);

  /** When the engine is told to stop: as soon as this is in the journal of the resume. */
  const moments: [string, (lines: JournalLine[], instance: Instance) => unknown][] = [
    ['it looks', (lines) => lines[0]],
    ['it has the lock', (lines, one) => lines.find(lockLine(instanceLock(ring.sandbox, one), 'acquired'))],
    ...(['create_resources', 'start_container', 'start_session'] as const).map(
      (op): [string, (lines: JournalLine[]) => unknown] => [op, (lines) => lines.find(stepBegins(op))],
    ),
  ];

  test(
    'loses nothing, status is honest, and the next resume works',
    async () => {
      const { sandbox } = ring;
      const overlaps = overlapCount();
      const instance = await ring.working();
      const { Id: id } = await sandbox.container(instance).inspect();
      const outcomes: string[] = [];
      for (let round = 0; round < REPETITIONS; round += 1) {
        const [title, moment] = moments[round % moments.length] as (typeof moments)[number];
        await ring.kill(instance);
        const resume = begin(sandbox, ['resume', instance.id, '--detach', '--json']);
        await resume.until((lines) => moment(lines, instance) ?? undefined);
        const stoppedAt = new Date().toISOString();
        await lab().engineStop();
        await lab().start();
        const result = await resume.done;
        overlaps.note({ overlapped: resume.lines().some(({ at }) => at > stoppedAt) });
        outcomes.push(`${title}: ${expectNamed(result)}`);

        await expectHonest(instance);
        expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
        const again = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
        const { code, stdout } = again;
        expect({ outcomes, code, stdout }).toEqual({ outcomes, code: 0, stdout });
        expect([0, 1]).toContain(again.json().data.tier);
        expect(await seenInside(sandbox, instance)).toEqual(ALL);
        expect((await sandbox.container(instance).inspect()).Id).toBe(id);
        expect(await ring.added()).toEqual([`container /${instance.base}`, `network ${instance.base}-net`]);
      }
      await ring.remove(instance);
      overlaps.expectEnough();
      await ring.expectNothingLeft();
    },
    20 * MINUTES,
  );

  /** What the engine says and what `status` says are the same thing. */
  async function expectHonest(instance: Instance): Promise<void> {
    const { sandbox } = ring;
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
