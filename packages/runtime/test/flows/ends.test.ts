import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  ended,
  killAll,
  type Lab,
  loaded,
  loadRequest,
  openLab,
  statusOf,
  type,
  untilItEnds,
} from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const attachedLoad = loadRequest({ detach: false, session: 'new' });

describe('an attached session whose agent ends', () => {
  test('by itself is cleaned up under "ask", naming what went and the flag that would have kept it', async () => {
    const end = ended(await lab.jackin({ attached: type('exit 3') }).load(attachedLoad));
    expect(end).toMatchObject({
      outcome: 'cleaned',
      status: null,
      cause: 'clean',
      exitCode: 0,
      policy: { value: 'ask', source: 'default' },
      agent_exit: { code: 3, signal: null },
    });
    expect(end.removed).toContainEqual(expect.stringContaining('home, conversation'));
    expect(end.evidence).toContainEqual(expect.stringContaining('--keep'));
    expect(await lab.traces(end.instance_id)).toEqual([]);
  });

  test('is kept by the flag, by the workspace before the global policy, and by the global one', async () => {
    await lab.config('dirty_exit_policy = "clean"\n');
    await lab.workspace(
      'app',
      `workdir = "${lab.project}"\ndirty_exit_policy = "keep"\n[[mounts]]\nsrc = "${lab.project}"\ndst = "${lab.project}"\n`,
    );
    const jackin = () => lab.jackin({ attached: type('exit') });
    const byWorkspace = ended(await jackin().load({ ...attachedLoad, target: 'app' }));
    expect(byWorkspace).toMatchObject({
      outcome: 'kept',
      policy: { value: 'keep', source: 'workspace' },
      exitCode: 0,
    });
    const flag = ended(await jackin().load({ ...attachedLoad, target: 'app', policy: 'clean' }));
    expect(flag).toMatchObject({ outcome: 'cleaned', policy: { value: 'clean', source: 'flag' } });
    const other = join(lab.root, 'other');
    await mkdir(other);
    const byGlobal = ended(await jackin().load({ ...attachedLoad, target: other }));
    expect(byGlobal).toMatchObject({ outcome: 'cleaned', policy: { value: 'clean', source: 'global' } });
    expect(await statusOf(lab, byWorkspace.instance_id)).toMatchObject({
      status: 'restore_available',
      keep: { intent: 'policy' },
      container: 'missing',
    });
  });

  test('by a signal is kept whatever the policy says, and exits 4', async () => {
    const jackin = lab.jackin({ attached: type('kill -9 $$') });
    const end = ended(await jackin.load({ ...attachedLoad, policy: 'clean' }));
    expect(end).toMatchObject({ outcome: 'kept', status: 'crashed', cause: 'agent_crash', exitCode: 4 });
    expect(await statusOf(lab, end.instance_id)).toMatchObject({ status: 'crashed', container: 'stopped' });
  });

  test('while another session of it is alive runs on', async () => {
    const { instance_id: id } = loaded(await lab.jackin().load(loadRequest()));
    const request = { instance: id, mode: 'shell', policy: 'clean' } as const;
    const end = ended(await lab.jackin({ attached: type('exit') }).hardline(request));
    expect(end).toMatchObject({ outcome: 'running', exitCode: 0, evidence: ['another session is alive'] });
    expect(await statusOf(lab, id)).toMatchObject({ status: 'running', agent_alive: 'yes' });
  });

  test('after a detach runs on, and hardline joins the same session', async () => {
    const first = ended(await lab.jackin({ attached: async () => 'detach' }).load(attachedLoad));
    expect(first).toMatchObject({ outcome: 'detached', status: 'running', exitCode: 0 });
    const request = { instance: null, mode: 'attach', policy: 'keep' } as const;
    const end = ended(await lab.jackin({ attached: type('exit') }).hardline(request));
    expect(end).toMatchObject({ instance_id: first.instance_id, outcome: 'kept' });
  });
});

describe('an attached session whose connection is lost', () => {
  test('with its supervisor is recorded and kept, and exits 4', async () => {
    const jackin = lab.jackin({
      attached: async (session) => {
        await killAll(session.instanceId);
        return untilItEnds();
      },
    });
    const end = ended(await jackin.load({ ...attachedLoad, policy: 'clean' }));
    expect(end).toMatchObject({ outcome: 'kept', status: 'crashed', cause: 'capsule_crash', exitCode: 4 });
    expect(end.evidence[0]).toMatch(/^the connection was lost/);
  });
});
