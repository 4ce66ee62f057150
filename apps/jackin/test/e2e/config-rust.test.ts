import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { gitRole } from './support/git-role.ts';
import { createSandbox, eventually, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(180_000);

const SAMPLE = fileURLToPath(new URL('../../../../fixtures/rust-state/config', import.meta.url));

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.dispose());

test('the configuration of the Rust jackin runs a load by the name of its workspace, and is the newest form afterwards with every comment kept', async () => {
  const operator = join(sandbox.root, 'op');
  for (const name of ['proj', 'notes']) mkdirSync(join(operator, name), { recursive: true });
  const bin = join(sandbox.root, 'bin');
  mkdirSync(bin);
  // 1Password's program is not on this machine; this one answers in its place.
  writeFileSync(join(bin, 'op'), '#!/bin/sh\necho "read $*"\n', { mode: 0o755 });
  Object.assign(sandbox.env, { GH_HOST: 'github.example', PATH: `${bin}:${sandbox.env.PATH}` });
  gitRole(join(sandbox.root, 'jackin-the-architect.git'), ['claude', 'shell']);
  cpSync(SAMPLE, sandbox.config, { recursive: true });
  const files = ['config.toml', 'workspaces/proj.toml'].map((name) => join(sandbox.config, name));
  const adjusted = files.map((file) => {
    const text = readFileSync(file, 'utf8')
      .replaceAll('/home/op', operator)
      .replace('https://example.test/', `file://${sandbox.root}/`);
    writeFileSync(file, text);
    return text;
  });

  const said = 'test "$GH_HOST" = github.example && echo "$API_KEY" >"$HOME/said" && exec sleep 1000';
  const load = await sandbox.jackin([
    'load',
    'the-architect',
    'proj',
    '--agent',
    'shell',
    '--backend',
    'standalone',
    '--mount-isolation',
    '/workspace/proj=shared',
    '--detach',
    '--json',
    '--',
    'sh',
    '-c',
    said,
  ]);
  expect({ code: load.code, stdout: load.stdout }).toMatchObject({ code: 0 });
  expect(load.stderr.match(/was brought from version/g)).toHaveLength(2);
  const { instance_id: id, container_base: base } = load.json().data;
  expect(sandbox.manifest(base)).toMatchObject({
    workspace_name: 'proj',
    role_key: 'the-architect',
    recipe: { backend: 'standalone', workdir: join(operator, 'proj') },
  });

  const [config, workspace] = adjusted as [string, string];
  const now = files.map((file) => readFileSync(file, 'utf8'));
  expect(now).toEqual([
    config.replace('"v1alpha9"', '"v1alpha10"').replace('"discard"', '"clean"'),
    workspace.replace('"v1alpha8"', '"v1alpha9"'),
  ]);
  const comments = (text: string) => text.match(/#.*/g);
  expect(now.map(comments)).toEqual(adjusted.map(comments));

  const read = 'read read --account acme op://vault/item/field\n';
  const file = join(sandbox.state, 'data', base, 'home/said');
  await eventually(
    'the agent has its variables',
    () => existsSync(file) && readFileSync(file, 'utf8') === read,
  );
  const shown = await sandbox.jackin(['workspace', 'show', 'proj', '--json']);
  expect(shown.json().data).toMatchObject({
    exit_policy: { value: 'keep', source: 'workspace' },
    instances: [{ instance_id: id }],
  });
  const stopped = await sandbox.jackin(['stop', id, '--json']);
  expect(stopped.json().data).toMatchObject({
    outcome: 'kept',
    policy: { value: 'keep', source: 'workspace' },
  });
});
