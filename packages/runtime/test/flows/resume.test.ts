import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { killAll, type Lab, loaded, loadRequest, openLab, quiet, statusOf } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const start = async (session: 'new' | null = 'new') =>
  loaded(await lab.jackin().load(loadRequest({ session })));

/** As after a power cut: every process is gone and the machine has booted again. */
async function loseHost(id: string, base: string): Promise<void> {
  await killAll(id);
  const file = lab.paths.instance(base).manifest;
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.backend.standalone.boot_id = '00000000-0000-0000-0000-000000000000';
  await writeFile(file, JSON.stringify(manifest));
}

describe('resume', () => {
  test('--all brings back what a host loss interrupted and nothing else', async () => {
    const lost = [await start(), await start()];
    const crashed = await start();
    for (const { instance_id: id, container_base: base } of lost) await loseHost(id, base);
    await killAll(crashed.instance_id);
    const dry = await lab.jackin().resumeAll({ ...quiet, dryRun: true });
    expect(dry).toMatchObject({ kind: 'plans', document: { plans: [{ tier: 1 }, { tier: 1 }] } });
    const result = await lab.jackin().resumeAll(quiet);
    if (result.kind !== 'resume_all') throw new Error('not a resume of all');
    expect(result.document.failed).toEqual([]);
    expect(result.document.resumed.map((one) => one.instance_id).sort()).toEqual(
      lost.map((one) => one.instance_id).sort(),
    );
    expect(result.document.resumed[0]).toMatchObject({ tier: 1, cause: 'host_restart' });
    expect(await statusOf(lab, crashed.instance_id)).toMatchObject({ status: 'crashed' });
  });

  test('of a running session joins it, by any unambiguous prefix', async () => {
    const { instance_id: id } = await start();
    const prefix = id.slice(0, 6);
    const back = await lab.jackin().resume({ instance: prefix, policy: null, detach: true, ...quiet });
    expect(back).toMatchObject({ document: { instance_id: id, tier: 0, did_not_return: [] } });
  });

  test('two at once: one starts it, the other joins what the first one started', async () => {
    const { instance_id: id } = await start();
    await killAll(id);
    const one = () => lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
    const results = await Promise.all([one(), one()]);
    const tiers = results.map((result) => (result.kind === 'resume' ? result.document.tier : null)).sort();
    expect(tiers).toEqual([0, 1]);
  });

  test('that fails leaves the record as it was and nothing running', async () => {
    const { instance_id: id, container_base: base } = await start();
    await killAll(id);
    const before = await statusOf(lab, id);
    const broken = { file: process.execPath, args: ['-e', 'process.exit(7)', '--'] };
    const jackin = lab.jackin({ capsule: broken });
    const failing = jackin.resume({ instance: id, policy: null, detach: true, ...quiet });
    await expect(failing).rejects.toMatchObject({ code: 'CAPSULE_START_FAILED' });
    expect(await lab.manifest(base)).toMatchObject({ status: 'crashed', exit_cause: { kind: before.cause } });
    expect((await lab.traces(id)).filter((trace) => trace.startsWith('process'))).toEqual([]);
    const back = await lab.jackin().resume({ instance: id, policy: null, detach: true, ...quiet });
    expect(back).toMatchObject({ document: { tier: 1, status: 'running' } });
  });
});
