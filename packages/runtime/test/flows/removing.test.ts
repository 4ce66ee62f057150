import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ConfirmView } from '../../src/index.ts';
import { ended, killAll, type Lab, loaded, loadRequest, openLab, quiet, statusOf } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const start = async (session: 'new' | null = 'new') =>
  loaded(await lab.jackin().load(loadRequest({ session })));

describe('purge', () => {
  test('asks with the words of its plan; nobody to ask is exit code 3; a no changes nothing', async () => {
    const { instance_id: id } = await start();
    const request = { instance: id, yes: false, force: false, dryRun: false };
    await expect(lab.jackin().purge(request)).rejects.toMatchObject({ code: 'DECISION_NEEDED', exitCode: 3 });
    const asked: ConfirmView[] = [];
    const jackin = lab.jackin({
      prompts: {
        available: true,
        confirm: async (view) => {
          asked.push(view);
          return false;
        },
      },
    });
    expect(await jackin.purge(request)).toMatchObject({ kind: 'cancelled', exitCode: 0 });
    expect(asked[0]?.removes).toContainEqual(expect.stringContaining('home, conversation'));
    expect(asked[0]?.warnings).toContainEqual(expect.stringContaining('An agent is alive'));
    expect(await statusOf(lab, id)).toMatchObject({ agent_alive: 'yes' });
    expect(ended(await lab.jackin().purge({ ...request, yes: true }))).toMatchObject({ outcome: 'cleaned' });
    expect(await lab.traces(id)).toEqual([]);
  });

  test('stops when the instance was brought back while the operator was asked', async () => {
    const { instance_id: id } = await start();
    await killAll(id);
    const jackin = lab.jackin({
      prompts: {
        available: true,
        confirm: async () => {
          await lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
          return true;
        },
      },
    });
    const purging = jackin.purge({ instance: id, yes: false, force: false, dryRun: false });
    await expect(purging).rejects.toMatchObject({ code: 'STATE_CHANGED' });
    expect(await statusOf(lab, id)).toMatchObject({ status: 'running', agent_alive: 'yes' });
  });

  test('ends and forgets an instance whose directory somebody removed while it ran', async () => {
    const { instance_id: id, container_base: base } = await start();
    await rm(lab.paths.instance(base).dir, { recursive: true });
    const command = `jackin purge ${id}`;
    const seen = await lab.jackin().status({ instance: null, detail: false, sizes: false });
    expect(seen).toMatchObject({
      document: { notices: [{ code: 'DIRECTORY_REMOVED', message: expect.stringContaining(command) }] },
    });
    const stopping = lab.jackin().stop({ instance: id, policy: null, dryRun: false });
    await expect(stopping).rejects.toMatchObject({ code: 'DIRECTORY_REMOVED' });
    const request = { instance: id, yes: false, force: false, dryRun: false };
    await expect(lab.jackin().purge(request)).rejects.toMatchObject({ code: 'DECISION_NEEDED', exitCode: 3 });
    expect(await lab.traces(id)).toContainEqual(expect.stringContaining('process'));
    expect(ended(await lab.jackin().purge({ ...request, yes: true }))).toMatchObject({
      container_base: base,
      outcome: 'cleaned',
    });
    expect(await lab.traces(id)).toEqual([]);
  });

  test('finishes a clean-up that was interrupted when only its row was left', async () => {
    const { instance_id: id, container_base: base } = await start();
    await killAll(id);
    const index = JSON.parse(await readFile(lab.paths.indexFile, 'utf8'));
    await lab.jackin().purge({ instance: id, yes: true, force: false, dryRun: false });
    const row = { ...index.instances[0], status: 'purged' };
    await writeFile(lab.paths.indexFile, JSON.stringify({ ...index, instances: [row] }));
    const stopping = lab.jackin().stop({ instance: id, policy: null, dryRun: false });
    await expect(stopping).rejects.toMatchObject({ code: 'CLEANUP_INTERRUPTED' });
    const end = ended(await lab.jackin().purge({ instance: id, yes: true, force: false, dryRun: false }));
    expect(end).toMatchObject({ container_base: base, outcome: 'cleaned' });
    expect(await lab.traces(id)).toEqual([]);
  });
});

describe('eject and exile', () => {
  test('end what runs and keep the state, which comes back', async () => {
    const [first, second] = [await start(), await start()];
    const end = ended(await lab.jackin().eject({ instance: first.instance_id, dryRun: false }));
    expect(end).toMatchObject({
      outcome: 'ejected',
      status: 'restore_available',
      cause: 'jackin_stop',
      exitCode: 0,
    });
    await expect(lab.jackin().exile({ yes: false, dryRun: false })).rejects.toMatchObject({ exitCode: 3 });
    const exiled = await lab.jackin().exile({ yes: true, dryRun: false });
    expect(exiled).toMatchObject({
      kind: 'exile',
      document: { ejected: [{ instance_id: second.instance_id }] },
    });
    const instance = first.instance_id;
    const back = await lab.jackin().resume({ instance, policy: null, detach: true, ...quiet });
    expect(back).toMatchObject({ document: { tier: 1, did_not_return: [] } });
  });

  test('plan and ask for the others when one instance cannot be judged', async () => {
    const [good, silent] = [await start(), await start()];
    const pid = (await lab.manifest(silent.container_base)).backend?.standalone?.pid ?? Number.NaN;
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await lab.jackin().exile({ yes: false, dryRun: true })).toMatchObject({
        exitCode: 1,
        document: {
          plans: [{ instance_id: good.instance_id }],
          failed: [{ instance_id: silent.instance_id, error: { code: 'AGENT_STATE_UNKNOWN' } }],
        },
      });
      const warnings: string[] = [];
      const confirm = async (view: ConfirmView) => {
        warnings.push(...view.warnings);
        return false;
      };
      const asked = lab.jackin({ prompts: { available: true, confirm } });
      expect(await asked.exile({ yes: false, dryRun: false })).toMatchObject({ kind: 'cancelled' });
      expect(warnings.join('\n')).toContain(`${silent.container_base} cannot be ejected`);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
