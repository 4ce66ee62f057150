import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addDockerMount,
  createWorkspace,
  editConfig,
  editWorkspace,
  type MountSpec,
  removeDockerMount,
  settingPath,
  settingValue,
  setVariables,
  typedVariable,
  unsetVariables,
  variablesOf,
  type WorkspaceChange,
  workspaceEdits,
} from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { scratch } from '../helpers.ts';

const OPTIONS = { events: () => {}, waitMs: 0 };
const mount = (src: string, dst = src, more: Partial<MountSpec> = {}): MountSpec => ({
  src,
  dst,
  readonly: false,
  isolation: 'shared',
  ...more,
});
const PROJ = `version = "v1alpha9"
# where
workdir = "/w"
allowed_roles = ["a", "b"] # two
last_role = "a"

[[mounts]] # the first
src = "/s"
dst = "/w"

[[mounts]] # the second
src = "/n"
dst = "/n"
`;

async function changed(change: WorkspaceChange, text = PROJ): Promise<string> {
  await using s = await scratch({ 'workspaces/proj.toml': text });
  await editWorkspace(s.paths, 'proj', (current) => workspaceEdits(change, current), OPTIONS);
  return readFile(join(s.configDir, 'workspaces/proj.toml'), 'utf8');
}

describe('a change of a workspace', () => {
  test('sets every field at once, and takes every one out again', async () => {
    const all: WorkspaceChange = {
      workdir: '/w/sub',
      defaultRole: 'a',
      defaultAgent: 'claude',
      backend: 'standalone',
      gitPull: true,
      exitPolicy: 'keep',
      dockerProfile: 'standard',
      grants: { memory: '2g', cpus: 1.5 },
      dockerMounts: { cache: mount('/c', '/cache', { readonly: true }) },
      auth: { claude: { mode: 'sync', syncSourceDir: '/home/me/.claude' }, github: { mode: 'token' } },
    };
    const set = await changed(all);
    for (const line of [
      'workdir = "/w/sub"',
      'default_role = "a"',
      'default_agent = "claude"',
      'git_pull_on_entry = true',
      'dirty_exit_policy = "keep"',
      '[runtime]\nbackend = "standalone"',
      '[claude]\nauth_forward = "sync"\nsync_source_dir = "/home/me/.claude"',
      '[github]\nauth_forward = "token"',
      'profile = "standard"',
      'memory = "2g"\ncpus = 1.5',
      '[docker.mounts.cache]\nsrc = "/c"\ndst = "/cache"\nreadonly = true',
    ]) {
      expect(set).toContain(line);
    }
    const cleared = await changed(
      {
        workdir: '/w',
        defaultRole: null,
        defaultAgent: null,
        backend: null,
        exitPolicy: null,
        dockerProfile: null,
        grants: { memory: null, cpus: null },
        dockerMounts: { cache: null },
        auth: { claude: { mode: null, syncSourceDir: null }, github: { mode: null } },
      },
      set,
    );
    // A header stays where it is: what is written around it may belong to it.
    const left = cleared.split('\n').filter((line) => !PROJ.includes(line) && !line.startsWith('['));
    expect(left).toEqual(['git_pull_on_entry = true']);
  });

  test('replaces a mount by one at the same place, and every other line stays', async () => {
    const text = await changed({
      removeMounts: ['/w'],
      addMounts: [mount('/t', '/w', { readonly: true })],
      isolation: { '/n/': 'clone' },
    });
    expect(text).toBe(
      PROJ.replace('[[mounts]] # the first\nsrc = "/s"\ndst = "/w"\n\n', '').replace(
        'dst = "/n"\n',
        'dst = "/n"\nisolation = "clone"\n\n[[mounts]]\nsrc = "/t"\ndst = "/w"\nreadonly = true\n',
      ),
    );
  });

  test('allows and disallows roles, and adds none twice', async () => {
    expect(await changed({ disallowRoles: ['a'], allowRoles: ['c', 'b', 'c'] })).toBe(
      PROJ.replace('["a", "b"] # two', '["b", "c"] # two'),
    );
  });

  test.each<[string, WorkspaceChange, object]>([
    [
      'a mount that is not there',
      { removeMounts: ['/x'] },
      { code: 'SETTING_NOT_FOUND', hint: 'There is: /w, /n' },
    ],
    [
      'a role that is not there',
      { disallowRoles: ['x'] },
      { code: 'SETTING_NOT_FOUND', hint: 'There is: a, b' },
    ],
    ['credentials of nobody', { auth: { vim: { mode: 'sync' } } }, { code: 'AGENT_UNKNOWN', exitCode: 2 }],
    [
      'an auth mode of another agent',
      { auth: { codex: { mode: 'oauth_token' } } },
      { code: 'CONFIG_INVALID' },
    ],
    ['two mounts at one place', { addMounts: [mount('/x', '/w/')] }, { code: 'CONFIG_INVALID' }],
    ['a workdir outside', { workdir: '/elsewhere' }, { code: 'CONFIG_INVALID' }],
    ['a default role that is not allowed', { defaultRole: 'z' }, { code: 'CONFIG_INVALID' }],
    ['a grant nobody enforces', { grants: { sudo: true } }, { code: 'CONFIG_INVALID' }],
  ])('is refused for %s', async (_what, change, error) => {
    await expect(changed(change)).rejects.toMatchObject(error);
  });

  test('makes a new workspace', async () => {
    await using s = await scratch({});
    const change: WorkspaceChange = {
      workdir: '/w',
      addMounts: [mount('/w')],
      allowRoles: ['a'],
      exitPolicy: 'ask',
    };
    await createWorkspace(s.paths, 'new', workspaceEdits(change, {}), OPTIONS);
    expect(await readFile(join(s.configDir, 'workspaces/new.toml'), 'utf8')).toBe(
      'version = "v1alpha9"\nworkdir = "/w"\nallowed_roles = ["a"]\ndirty_exit_policy = "ask"\n\n[[mounts]]\nsrc = "/w"\ndst = "/w"\n',
    );
  });
});

describe('variables', () => {
  const global = { role: null, github: false };
  const plain = { onDemand: false, account: null };

  test.each([
    ['text', plain, 'text'],
    ['$NAME', plain, '$NAME'],
    ['op://v/i/f', plain, { op: 'op://v/i/f' }],
    ['op://v/i/f', { onDemand: true, account: 'me' }, { op: 'op://v/i/f', account: 'me', on_demand: true }],
    ['$NAME', { onDemand: true, account: null }, { value: '$NAME', on_demand: true }],
  ])('%s with %j is written as %j', (text, options, expected) => {
    expect(typedVariable(text, options)).toEqual(expected);
  });

  test('an account without a 1Password reference is refused', () => {
    expect(() => typedVariable('text', { onDemand: false, account: 'me' })).toThrow('1Password');
  });

  test('are set, listed by layer and unset, and a name that is not there is an error', async () => {
    await using s = await scratch({ 'config.toml': '# c\n[env]\nA = "a" # kept\n' });
    const layers = [
      global,
      { role: 'x', github: false },
      { role: 'x', github: true },
      { role: null, github: true },
    ];
    for (const layer of layers)
      await editConfig(s.paths, setVariables(layer, { B: '$B', C: 'long secret' }), OPTIONS);
    const rows = variablesOf((await s.load()).config, null);
    expect(rows.map(({ layer, name, kind, value }) => [layer, name, kind, value])).toEqual([
      ['env', 'A', 'literal', '***'],
      ['env', 'B', 'host', '$B'],
      ['env', 'C', 'literal', '***'],
      ['github.env', 'B', 'host', '$B'],
      ['github.env', 'C', 'literal', '***'],
      ['roles.x.env', 'B', 'host', '$B'],
      ['roles.x.env', 'C', 'literal', '***'],
      ['roles.x.github.env', 'B', 'host', '$B'],
      ['roles.x.github.env', 'C', 'literal', '***'],
    ]);
    expect(variablesOf((await s.load()).config, 'x')).toHaveLength(4);
    for (const layer of layers) await editConfig(s.paths, unsetVariables(layer, ['B', 'C']), OPTIONS);
    expect(await readFile(join(s.configDir, 'config.toml'), 'utf8')).toContain('[env]\nA = "a" # kept\n');
    expect(variablesOf((await s.load()).config, null)).toHaveLength(1);
    await expect(editConfig(s.paths, unsetVariables(global, ['A', 'Z']), OPTIONS)).rejects.toMatchObject({
      code: 'SETTING_NOT_FOUND',
      message: 'There is no variable Z in [env].',
      hint: 'There is: A',
    });
    await expect(editConfig(s.paths, setVariables(global, { JACKIN_X: 'x' }), OPTIONS)).rejects.toMatchObject(
      {
        code: 'ENV_RESERVED',
      },
    );
  });
});

test('a named mount is added once, stays when it is the same, and is removed by its name', async () => {
  await using s = await scratch({});
  const add = (name: string, spec: MountSpec) => editConfig(s.paths, addDockerMount(name, spec), OPTIONS);
  expect(await add('cache', mount('/c', '/cache'))).toMatchObject({ changed: true });
  expect(await add('cache', mount('/c/', '/cache'))).toMatchObject({ changed: false });
  await expect(add('cache', mount('/d', '/cache'))).rejects.toMatchObject({ code: 'SETTING_EXISTS' });
  await expect(add('other', mount('/d', '/cache'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  await expect(editConfig(s.paths, removeDockerMount('no'), OPTIONS)).rejects.toMatchObject({
    code: 'SETTING_NOT_FOUND',
    hint: 'There is: cache',
  });
  expect(await editConfig(s.paths, removeDockerMount('cache'), OPTIONS)).toMatchObject({ changed: true });
  expect((await s.load()).config.docker.mounts ?? {}).toEqual({});
});

describe('a setting as it is typed', () => {
  test.each([
    ['attach.prefix', ['attach', 'prefix']],
    ['roles."my role".path', ['roles', 'my role', 'path']],
  ])('the key %s', (key, path) => expect(settingPath(key)).toEqual(path));

  test.each(['', 'a b', 'a = 1\nb', 'a.', '__proto__.x', '# c'])('%j is no key', (key) => {
    expect(() => settingPath(key)).toThrow('is not a key');
  });

  test.each([
    ['60', 60],
    ['true', true],
    ['["a", "b"]', ['a', 'b']],
    ['{ a = 1 }', { a: 1 }],
    ['"60"', '60'],
    ['plain text', 'plain text'],
    ['2026-01-01', '2026-01-01'],
    ['1\nother = 2', '1\nother = 2'],
  ])('the value %j', (text, value) => expect(settingValue(text)).toEqual(value));
});
