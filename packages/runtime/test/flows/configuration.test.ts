import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ConfirmView, EditDocument, FlowResult } from '../../src/index.ts';
import { killAll, type Lab, loaded, loadRequest, openLab, statusOf } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.dispose());

const OLD = '# mine\ndirty_exit_policy = "discard"\n';
const config = () => readFile(join(lab.paths.configDir, 'config.toml'), 'utf8');
const notices = () => lab.events.flatMap((event) => (event.type === 'notice' ? [event] : []));
const app = () =>
  lab.workspace(
    'app',
    `version = "v1alpha9"\nworkdir = "${lab.project}"\ndirty_exit_policy = "keep"\n\n[[mounts]]\nsrc = "${lab.project}"\ndst = "${lab.project}"\n`,
  );

function edited(result: FlowResult): EditDocument & { exitCode: number } {
  if (result.kind !== 'edit') throw new Error(`an edit was expected, not ${JSON.stringify(result)}`);
  return { ...result.document, exitCode: result.exitCode };
}

describe('older files', () => {
  test('are brought to the newest form by a command about sessions, and not by one that looks or plans', async () => {
    await lab.config(OLD);
    const jackin = lab.jackin();
    await jackin.status({ instance: null, detail: false, sizes: false });
    await jackin.doctor();
    await jackin.load(loadRequest({ dryRun: true, session: 'new' }));
    await jackin.exile({ yes: false, dryRun: true });
    expect([await config(), notices()]).toEqual([OLD, []]);
    await jackin.exile({ yes: true, dryRun: false });
    expect(await config()).toBe('version = "v1alpha10"\n# mine\ndirty_exit_policy = "clean"\n');
    expect(notices()).toMatchObject([
      {
        level: 'info',
        code: 'CONFIG_MIGRATED',
        message: expect.stringContaining('from version legacy to v1alpha10'),
      },
    ]);
  });

  test('that cannot be written count as they are for a session, and are an error for an edit', async () => {
    await lab.config(OLD);
    const lock = await acquireLock(join(lab.paths.configDir, 'config.lock'), {
      purpose: 'edit',
      locksDb: lab.paths.locksDb,
      waitMs: 0,
    });
    try {
      const { instance_id: id } = loaded(await lab.jackin().load(loadRequest({ session: 'new' })));
      expect(notices()).toMatchObject([
        { level: 'warn', code: 'CONFIG_NOT_MIGRATED', message: expect.stringContaining('(edit)') },
      ]);
      const stopped = await lab.jackin().stop({ instance: id, policy: null, dryRun: false });
      expect(stopped).toMatchObject({
        document: { outcome: 'cleaned', policy: { value: 'clean', source: 'global' } },
      });
      const edit = lab.jackin().settings.exitPolicy({ value: 'keep', dryRun: false });
      await expect(edit).rejects.toMatchObject({ code: 'LOCK_HELD' });
      expect(await config()).toBe(OLD);
    } finally {
      await lock.release();
    }
  });

  test('that nobody understands are told by what needs them and keep nothing else from working', async () => {
    const { instance_id: id } = loaded(await lab.jackin().load(loadRequest({ session: 'new' })));
    await lab.config('dirty_exit_policy = [\n');
    await expect(lab.jackin().load(loadRequest({ session: 'new' }))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    const stopped = await lab.jackin().stop({ instance: id, policy: 'keep', dryRun: false });
    expect(stopped).toMatchObject({ exitCode: 0, document: { outcome: 'kept' } });
    expect(notices()).toEqual([]);
  });
});

describe('a workspace with an instance', () => {
  let id: string;
  let base: string;
  beforeEach(async () => {
    await app();
    const document = loaded(await lab.jackin().load(loadRequest({ target: 'app', session: 'new' })));
    ({ instance_id: id, container_base: base } = document);
  });

  test('keeps it when it is renamed: nothing of the record changes but the name', async () => {
    const before = await lab.manifest(base);
    const planned = edited(await lab.jackin().workspaces.rename({ from: 'app', to: 'site', dryRun: true }));
    expect(planned.instances).toMatchObject([{ instance_id: id, effect: 'would belong to site' }]);
    expect(await lab.manifest(base)).toEqual(before);
    const done = edited(await lab.jackin().workspaces.rename({ from: 'app', to: 'site', dryRun: false }));
    expect(done).toMatchObject({
      action: 'renamed',
      exitCode: 0,
      instances: [{ effect: 'belongs to site', done: true }],
    });
    expect(await lab.manifest(base)).toEqual({
      ...before,
      workspace_name: 'site',
      workspace_label: 'site',
      updated_at: expect.any(String),
    });
    expect(await statusOf(lab, id)).toMatchObject({
      workspace: 'site',
      status: 'running',
      agent_alive: 'yes',
    });
  });

  test('is brought to the end when only the record was written', async () => {
    const workspaces = () => lab.jackin().workspaces;
    const file = (name: string) => join(lab.paths.configDir, `workspaces/${name}.toml`);
    const text = await readFile(file('app'), 'utf8');
    await workspaces().rename({ from: 'app', to: 'site', dryRun: false });
    await rm(file('site'));
    await lab.workspace('app', text);
    const { action, instances } = edited(
      await workspaces().rename({ from: 'app', to: 'site', dryRun: false }),
    );
    expect({ action, instances }).toEqual({ action: 'renamed', instances: [] });
    expect(await readFile(file('site'), 'utf8')).toBe(text);
    expect((await lab.manifest(base)).workspace_name).toBe('site');
  });

  test('is never handed to another workspace that is there, not even when its own is gone', async () => {
    const file = join(lab.paths.configDir, 'workspaces/app.toml');
    await lab.workspace('other', await readFile(file, 'utf8'));
    const rename = () => lab.jackin().workspaces.rename({ from: 'app', to: 'other', dryRun: false });
    await expect(rename()).rejects.toMatchObject({ code: 'WORKSPACE_EXISTS' });
    await rm(file);
    await expect(rename()).rejects.toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
    expect((await lab.manifest(base)).workspace_name).toBe('app');
  });

  test('is removed after a question that names it, and stays with no', async () => {
    const asked: ConfirmView[] = [];
    const answer = (yes: boolean) =>
      lab.jackin({
        prompts: {
          available: true,
          confirm: async (view) => {
            asked.push(view);
            return yes;
          },
        },
      });
    const request = { name: 'app', yes: false, dryRun: false };
    expect(await answer(false).workspaces.remove(request)).toMatchObject({ kind: 'cancelled', exitCode: 0 });
    const file = join(lab.paths.configDir, 'workspaces/app.toml');
    expect(await readFile(file, 'utf8')).toContain('workdir');
    expect(asked).toEqual([
      {
        title: 'remove the workspace app',
        removes: [file],
        warnings: [`${base} (running) stays: jackin resume ${id}`],
      },
    ]);
    const before = await lab.manifest(base);
    expect(edited(await answer(true).workspaces.remove(request))).toMatchObject({
      action: 'removed',
      instances: [{ instance_id: id }],
    });
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await lab.manifest(base)).toEqual(before);
    await killAll(id);
  });

  test('is refused without anybody to ask', async () => {
    await expect(
      lab.jackin().workspaces.remove({ name: 'app', yes: false, dryRun: false }),
    ).rejects.toMatchObject({
      code: 'DECISION_NEEDED',
      exitCode: 3,
      hint: 'Confirm it with: jackin workspace remove app --yes',
    });
  });
});

test('paths as they are typed are relative to the working directory and the home', async () => {
  await mkdir(join(lab.project, 'sub'));
  const jackin = lab.jackin({ cwd: lab.project });
  await jackin.workspaces.create({
    name: 'app',
    change: { mounts: ['sub:/w', '~/n:/w/n:ro'], workdir: '/w', mountIsolation: ['/w=clone'] },
    dryRun: false,
  });
  const { instances, ...shown } = (await jackin.workspaces.show({ name: 'app' })).document as any;
  expect(instances).toEqual([]);
  expect(shown.settings).toContainEqual({
    key: 'mounts',
    value: [
      { src: join(lab.project, 'sub'), dst: '/w', readonly: false, isolation: 'clone' },
      { src: join(lab.root, 'user/n'), dst: '/w/n', readonly: true, isolation: 'shared' },
    ],
    source: 'file',
    line: 4,
  });
  await expect(
    jackin.workspaces.edit({ name: 'app', change: { grants: ['memory'] }, dryRun: false }),
  ).rejects.toMatchObject({ code: 'USAGE' });
});
