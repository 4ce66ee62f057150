import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { eventually } from '../e2e/support/sandbox.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { ALL, kept, seenInside, writeAll } from './support/files.ts';

const MINUTES = 60_000;
jest.setTimeout(3 * MINUTES);
const SESSIONS = 8;
/** One that ends in good order when it is told to, one that just dies, and one that is deaf. */
const AGENTS = ['trap "exit 0" TERM HUP', ':', 'trap "" TERM HUP'].map((first) => [
  ...['sh', '-c', `${first}; while :; do sleep 1; done`],
]);

await describeOnEngine('disaster', 'an engine that goes away', (lab) => {
  let sandbox: EngineSandbox;

  async function status(): Promise<any[]> {
    const { json, code } = await sandbox.jackin(['status', '--json']);
    expect(code).toBe(0);
    return json().data.instances;
  }

  async function containers(): Promise<string[]> {
    return (await lab().docker.listContainers({ all: true })).map(({ Id }) => Id).sort();
  }

  describe('eight sessions', () => {
    const sessions: Instance[] = [];

    beforeAll(async () => {
      sandbox = createEngineSandbox(lab());
      // Even the policy that cleans takes nothing that was not ended by its agent or by us.
      sandbox.writeConfig('dirty_exit_policy = "clean"\n');
      for (let at = 0; at < SESSIONS; at += 1) {
        const instance = await sandbox.load(AGENTS[at % AGENTS.length]);
        sessions.push(instance);
        await writeAll(sandbox, instance);
      }
    }, 10 * MINUTES);

    // Each begins with all eight running, which is how the one before it ends.
    test.each([
      { title: 'O41: the power is cut', disaster: 'powerCut', codes: [255] },
      { title: 'the engine crashes', disaster: 'engineCrash', codes: [0, 137, 143] },
      { title: 'the engine is stopped in good order', disaster: 'engineStop', codes: [0, 137, 143] },
    ] as const)(
      '$title: all are host_lost with evidence, and each comes back with its files in project, home and layer',
      async ({ disaster, codes }) => {
        const before = await containers();
        expect(before).toHaveLength(SESSIONS);
        await lab()[disaster]();
        await lab().start();

        const rows = await status();
        expect(rows).toHaveLength(SESSIONS);
        for (const row of rows) {
          expect(row).toMatchObject({
            status: 'host_lost',
            cause: 'engine_restart',
            container: 'stopped',
            agent_alive: 'no',
            exit_pending: false,
          });
          expect(row.evidence.join('\n')).toMatch(
            /container: stopped, exit code \d+[\s\S]*engine run: changed/,
          );
        }
        for (const { base } of sessions) {
          const { status, exit_cause: cause } = sandbox.manifest(base);
          expect({ status, kind: cause.kind }).toEqual({ status: 'host_lost', kind: 'engine_restart' });
          expect(codes).toContain(cause.exit_code);
        }
        // Nothing is taken away by what looks at it or lists it.
        expect(await containers()).toEqual(before);
        for (const instance of sessions) expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);

        const [first, ...others] = sessions as [Instance, ...Instance[]];
        const resumed = await sandbox.jackin(['resume', first.id, '--detach', '--json']);
        expect([resumed.code, resumed.json().data]).toMatchObject([
          0,
          { tier: 1, status: 'running', cause: 'engine_restart', did_not_return: ['live_processes'] },
        ]);
        expect(await seenInside(sandbox, first)).toEqual(ALL);
        expect((await status()).filter((row) => row.status === 'host_lost')).toHaveLength(SESSIONS - 1);

        const all = await sandbox.jackin(['resume', '--all', '--json'], { timeoutMs: 4 * MINUTES });
        const { resumed: back, failed } = all.json().data;
        expect([all.code, failed]).toEqual([0, []]);
        expect(back.map((one: any) => [one.instance_id, one.tier]).sort()).toEqual(
          others.map(({ id }) => [id, 1]).sort(),
        );
        for (const instance of others) expect(await seenInside(sandbox, instance)).toEqual(ALL);
        expect((await status()).map((row) => [row.status, row.cause, row.agent_alive])).toEqual(
          Array(SESSIONS).fill(['running', null, 'yes']),
        );
        // The same containers: no copies beside them, none made anew.
        expect(await containers()).toEqual(before);
      },
      10 * MINUTES,
    );

    afterAll(() => sandbox.dispose(), 2 * MINUTES);
  });

  describe('three sessions of one directory', () => {
    /** Notes each of its starts. */
    const counting = ['sh', '-c', 'echo started >>/home/agent/starts; while :; do sleep 1; done'];
    const byTitle = new Map<string, Instance>();
    let before: string[];
    const get = (title: string): Instance => byTitle.get(title) as Instance;

    beforeAll(async () => {
      sandbox = createEngineSandbox(lab());
      const extra = join(sandbox.root, 'extra');
      mkdirSync(extra);
      byTitle.set('running', await sandbox.load(counting));
      byTitle.set('stopped by its user', await sandbox.load(counting));
      byTitle.set('not resumable', await sandbox.load(counting, ['--mount', `${extra}:/extra`]));
      for (const instance of byTitle.values()) {
        await eventually('its agent has noted its start', () => starts(instance) === 1);
        await sandbox.exec(instance, 'sh', '-c', 'echo here >/marker');
      }
      const stopped = get('stopped by its user');
      await sandbox.container(stopped).stop();
      expect(await sandbox.status(stopped)).toMatchObject({ status: 'stopped', cause: 'stopped_by_other' });
      before = await containers();
      await lab().powerCut();
      await lab().start();
      rmSync(extra, { recursive: true });
    }, 5 * MINUTES);

    test('O35: after a power cut they are listed with their causes, and load offers them before it makes another', async () => {
      expect(await sandbox.status(get('running'))).toMatchObject({
        status: 'host_lost',
        cause: 'engine_restart',
      });
      const { code, json } = await sandbox.jackin([
        ...['load', 'shell', sandbox.project, '--agent', 'shell', '--detach', '--json'],
      ]);
      const { details } = json().error;
      expect(code).toBe(3);
      expect(details.candidates).toHaveLength(3);
      expect(details.candidates).toContainEqual(
        expect.objectContaining({
          instance_id: get('running').id,
          what: 'interrupted by engine loss',
          readiness: 'ready',
        }),
      );
      expect(details.commands.join('\n')).toMatch(/--(resume|instance)[\s\S]*--new/);
      expect(await containers()).toEqual(before);
    });

    test('O85: what was interrupted comes back once, what its user stopped stays stopped, and what cannot come back says why', async () => {
      const again = await resumeAll();
      expect(again.code).toBe(1);
      expect(again.resumed).toMatchObject([{ instance_id: get('running').id, tier: 1, status: 'running' }]);
      expect(again.failed).toMatchObject([{ instance_id: get('not resumable').id }]);
      expect(again.failed[0].error.message).toContain(join(sandbox.root, 'extra'));
      expect(await sandbox.status(get('stopped by its user'))).toMatchObject({
        status: 'stopped',
        cause: 'stopped_by_other',
        container: 'stopped',
      });
      const lost = await sandbox.status(get('not resumable'));
      expect(lost).toMatchObject({ status: 'host_lost', container: 'stopped' });
      await eventually('the agent runs again', () => starts(get('running')) === 2);

      expect((await resumeAll()).resumed).toEqual([]);
      expect([...byTitle.values()].map(starts)).toEqual([2, 1, 1]);
      expect(await containers()).toEqual(before);
    });

    test('O50: a session that was stopped comes back in its own container, with what was installed there', async () => {
      const instance = get('stopped by its user');
      const { Id: id } = await sandbox.container(instance).inspect();
      const { code, json } = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
      expect([code, json().data]).toMatchObject([0, { tier: 1, cause: 'stopped_by_other' }]);
      expect(json().data.returned).toContain('writable_layer');
      expect(await sandbox.exec(instance, 'cat', '/marker')).toBe('here\n');
      expect((await sandbox.container(instance).inspect()).Id).toBe(id);
      expect(await containers()).toEqual(before);
    });

    function starts({ base }: Instance): number {
      const path = join(sandbox.state, 'data', base, 'home/starts');
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
    }

    async function resumeAll(): Promise<{ code: number | null; resumed: any[]; failed: any[] }> {
      const { code, json } = await sandbox.jackin(['resume', '--all', '--json'], { timeoutMs: 2 * MINUTES });
      return { code, ...json().data };
    }

    afterAll(() => sandbox.dispose(), 2 * MINUTES);
  });
});
