import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Instance, killInstance, statusOf } from './support/instance.ts';
import { type CliResult, createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(180_000);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

async function jackin(...args: string[]): Promise<CliResult> {
  const result = await sandbox.jackin(args);
  expect({ args, code: result.code, stderr: result.code === 0 ? '' : result.stderr }).toMatchObject({
    code: 0,
  });
  return result;
}

async function loaded(args: string[], cwd?: string): Promise<Instance> {
  const command = ['load', ...args, '--new', '--detach', '--json', '--', 'sleep', '1000'];
  const result = await sandbox.jackin(command, cwd === undefined ? {} : { cwd });
  expect({ code: result.code, stdout: result.stdout }).toMatchObject({ code: 0 });
  const { instance_id: id, container_base: base } = result.json().data;
  return { id, base };
}

const makeWorkspace = (...more: string[]) =>
  jackin(
    'workspace',
    'create',
    'app',
    '--mount',
    sandbox.project,
    '--backend',
    'standalone',
    '--role',
    'shell',
    '--exit-policy',
    'keep',
    ...more,
  );

describe('a workspace made by command', () => {
  test('is found by its name and from a directory in it, with its own role, backend and variables', async () => {
    await makeWorkspace('--allowed-role', 'shell');
    await jackin('workspace', 'env', 'set', 'app', 'STAGE=test', "HOME_OF='$HOME'", 'WHO=$HOME');
    mkdirSync(join(sandbox.project, 'deep/er'), { recursive: true });
    const here = await loaded([], join(sandbox.project, 'deep/er'));
    const named = await loaded(['shell', 'app'], sandbox.root);
    for (const { base } of [here, named]) {
      expect(sandbox.manifest(base)).toMatchObject({
        workspace_name: 'app',
        role_key: 'shell',
        recipe: {
          backend: 'standalone',
          workdir: sandbox.project,
          env: [
            { name: 'STAGE', source: 'literal:test' },
            { name: 'HOME_OF', source: "literal:'$HOME'" },
            { name: 'WHO', source: '$HOME' },
          ],
        },
      });
    }
    const listed = await jackin('workspace', 'list', '--json');
    expect(listed.json().data.workspaces).toMatchObject([{ name: 'app', instances: 2 }]);
    const refused = await sandbox.jackin(['load', 'agent-smith', 'app', '--detach', '--json']);
    expect([refused.code, refused.json().error]).toMatchObject([
      1,
      { code: 'ROLE_NOT_ALLOWED', hint: 'It allows: shell' },
    ]);
    expect(refused.json().error.message).toContain('"agent-smith"');
  });
});

describe('workspace rename', () => {
  test('brings its instances along: they resume, are offered by the new name, and keep to its exit policy', async () => {
    await makeWorkspace();
    await jackin('config', 'exit-policy', 'clean');
    const [running, lost] = [await loaded(['shell', 'app']), await loaded(['shell', 'app'])];
    await killInstance(lost);
    const before = sandbox.manifest(lost.base);
    const renamed = (await jackin('workspace', 'rename', 'app', 'site', '--json')).json().data;
    expect(
      renamed.instances.map(({ container_base: base, effect, done }: any) => [base, effect, done]).sort(),
    ).toEqual([running.base, lost.base].sort().map((base) => [base, 'belongs to site', true]));
    expect(sandbox.manifest(lost.base)).toEqual({
      ...before,
      workspace_name: 'site',
      workspace_label: 'site',
      updated_at: expect.any(String),
    });
    expect(await statusOf(sandbox, running)).toMatchObject({ workspace: 'site', status: 'running' });
    const offered = await sandbox.jackin(['load', 'shell', 'site', '--detach', '--json']);
    expect([offered.code, offered.json().error.details.candidates]).toMatchObject([
      3,
      expect.arrayContaining([
        expect.objectContaining({ instance_id: running.id }),
        expect.objectContaining({ instance_id: lost.id }),
      ]),
    ]);
    await jackin('resume', lost.id, '--detach');
    const stopped = await sandbox.jackin(['stop', running.id, '--json']);
    expect([stopped.code, stopped.json().data]).toMatchObject([
      0,
      { outcome: 'kept', policy: { value: 'keep', source: 'workspace' } },
    ]);
  });

  test('names an instance that another jackin works on, exit code 1, and the same command brings it along later', async () => {
    await makeWorkspace();
    const instance = await loaded(['shell', 'app']);
    const data = join(sandbox.state, 'data');
    const lock = await acquireLock(join(data, `${instance.base}.lock`), {
      purpose: 'test',
      locksDb: join(data, 'locks.db'),
      waitMs: 10_000,
    });
    const first = await sandbox.jackin(['workspace', 'rename', 'app', 'site', '--json']);
    await lock.release();
    expect([first.code, first.json().data.instances]).toMatchObject([
      1,
      [
        {
          instance_id: instance.id,
          done: false,
          effect: expect.stringContaining('run the same command again'),
        },
      ],
    ]);
    expect(sandbox.manifest(instance.base).workspace_name).toBe('app');
    const second = (await jackin('workspace', 'rename', 'app', 'site', '--json')).json().data;
    expect(second.instances).toMatchObject([{ instance_id: instance.id, done: true }]);
    expect(sandbox.manifest(instance.base).workspace_name).toBe('site');
    expect((await sandbox.jackin(['workspace', 'rename', 'app', 'site', '--json'])).json().error.code).toBe(
      'WORKSPACE_NOT_FOUND',
    );
  });
});

describe('workspace remove', () => {
  test('names the instances that stay with what changes for them, and touches none of them', async () => {
    await makeWorkspace();
    const instance = await loaded(['shell', 'app']);
    await killInstance(instance);
    await statusOf(sandbox, instance);
    const manifest = readFileSync(
      join(sandbox.state, 'data', instance.base, '.jackin/instance.json'),
      'utf8',
    );
    await jackin('workspace', 'edit', 'app', '--exit-policy', 'clean');
    const refused = await sandbox.jackin(['workspace', 'remove', 'app']);
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringContaining('jackin workspace remove app --yes'),
    ]);
    const effect = `stays: jackin resume ${instance.id}; its exit policy is keep then, not clean`;
    const removed = (await jackin('workspace', 'remove', 'app', '--yes', '--json')).json().data;
    expect(removed).toMatchObject({
      action: 'removed',
      instances: [{ instance_id: instance.id, effect, done: true }],
    });
    expect(readFileSync(join(sandbox.state, 'data', instance.base, '.jackin/instance.json'), 'utf8')).toBe(
      manifest,
    );
    await jackin('resume', instance.id, '--detach');
    expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'running', workspace: 'app' });
  });
});

describe('the exit policy', () => {
  const ends = async (...more: string[]): Promise<{ outcome: string; policy: unknown }> => {
    // A directory of no workspace.
    const other = join(sandbox.root, 'other');
    mkdirSync(other, { recursive: true });
    const { id } = await loaded(more.length === 0 ? ['shell', other] : more);
    const stopped = await sandbox.jackin(['stop', id, '--json']);
    const { outcome, policy } = stopped.json().data;
    return { outcome, policy };
  };

  test('said with config exit-policy holds for every session, and a workspace says otherwise', async () => {
    sandbox.writeConfig('version = "v1alpha10"\n\n[runtime]\ndefault_backend = "standalone"\n');
    await jackin('config', 'exit-policy', 'keep');
    expect(await ends()).toEqual({ outcome: 'kept', policy: { value: 'keep', source: 'global' } });
    await jackin('workspace', 'create', 'app', '--mount', sandbox.project, '--exit-policy', 'clean');
    expect(await ends('shell', 'app')).toEqual({
      outcome: 'cleaned',
      policy: { value: 'clean', source: 'workspace' },
    });
    await jackin('workspace', 'edit', 'app', '--clear-exit-policy');
    expect(await ends('shell', 'app')).toEqual({
      outcome: 'kept',
      policy: { value: 'keep', source: 'global' },
    });
    await jackin('config', 'exit-policy', '--clear');
    expect(await ends('shell', 'app')).toEqual({
      outcome: 'cleaned',
      policy: { value: 'ask', source: 'default' },
    });
  });
});

test('a file that nobody understands keeps no other workspace from being changed, and can be removed', async () => {
  await makeWorkspace();
  writeFileSync(join(sandbox.config, 'workspaces/broken.toml'), 'workdir = [\n');
  await jackin('workspace', 'edit', 'app', '--git-pull');
  const listed = await sandbox.jackin(['workspace', 'list', '--json']);
  expect(listed.json().error).toMatchObject({
    code: 'CONFIG_INVALID',
    details: { file: join(sandbox.config, 'workspaces/broken.toml') },
  });
  await jackin('workspace', 'remove', 'broken', '--yes');
  await jackin('workspace', 'list');
});
