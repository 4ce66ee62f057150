import { join } from 'node:path';
import { configuredMounts, memoryBytes, resolveLimits } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { scratch } from './helpers.ts';

const WORKSPACE = 'workdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n';
const inWorkspace = { workspaceName: 'w' } as const;

test.each<[number | string, number | null]>([
  [1024, 1024],
  ['1024', 1024],
  ['512m', 512 * 1024 ** 2],
  ['1.5GiB', 1.5 * 1024 ** 3],
  ['2 k', 2048],
  ['1T', 1024 ** 4],
  [0, null],
  ['0m', null],
  [-1, null],
  ['lots', null],
  ['', null],
  ['1p', null],
])('%j of memory are %j bytes', (amount, bytes) => {
  expect(memoryBytes(amount)).toBe(bytes);
});

describe('limits', () => {
  test('of a workspace win one by one over those for all', async () => {
    await using s = await scratch({
      'config.toml':
        '[docker.grants]\nmemory = "1g"\ncpus = "1.5"\nnetwork = "open"\ndind = "none"\nsudo = false\n',
      'workspaces/w.toml': `${WORKSPACE}[docker.grants]\nmemory = 2048\npids = 100\n`,
    });
    const loaded = await s.load();
    expect(loaded.problems).toEqual([]);
    const workspace = loaded.workspaces.get('w') ?? null;
    expect(resolveLimits(loaded, { ...inWorkspace, workspace })).toEqual({
      memory_bytes: 2048,
      cpus: 1.5,
      pids: 100,
    });
    expect(resolveLimits(loaded, { workspaceName: null, workspace: null })).toEqual({
      memory_bytes: 1024 ** 3,
      cpus: 1.5,
    });
  });

  test('a grant nobody enforces is a problem to whoever looks and an error to whoever launches', async () => {
    await using s = await scratch({
      'config.toml':
        '[docker]\nprofile = "locked"\n[docker.grants]\nallowed_hosts = ["a"]\nuser = "root"\nnofile = 1\n',
    });
    const loaded = await s.load();
    const keys = [
      'docker.profile',
      'docker.grants.allowed_hosts',
      'docker.grants.user',
      'docker.grants.nofile',
    ];
    expect(loaded.problems.map(({ key }) => key)).toEqual(keys);
    expect(() => resolveLimits(loaded, { workspaceName: null, workspace: null })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        details: expect.objectContaining({ problems: keys.map((key) => expect.objectContaining({ key })) }),
      }),
    );
  });
});

describe('mounts for every session', () => {
  test('are those of config.toml, and the workspace may stand in for one by its name', async () => {
    await using s = await scratch(
      {
        'config.toml':
          '[docker.mounts]\na = { src = "~/a", dst = "/a", readonly = true }\nb = { src = "~/a", dst = "/b" }\n',
        'workspaces/w.toml': `${WORKSPACE}[docker.mounts.b]\nsrc = "~/b"\ndst = "/b/x/.."\n`,
      },
      ['a/', 'b/'],
    );
    const loaded = await s.load();
    const workspace = loaded.workspaces.get('w') ?? null;
    expect(await configuredMounts(loaded, { ...inWorkspace, workspace }, s.root)).toEqual([
      { src: join(s.root, 'a'), dst: '/a', isolation: 'shared', readonly: true },
      { src: join(s.root, 'b'), dst: '/b', isolation: 'shared', readonly: false },
    ]);
    expect(await configuredMounts(loaded, { workspaceName: null, workspace: null }, s.root)).toHaveLength(2);
  });

  test('whose source is gone are told by file and line', async () => {
    await using s = await scratch({
      'config.toml': '[docker.mounts.a]\ndst = "/a"\nsrc = "/gone/for/good"\n',
    });
    const target = { workspaceName: null, workspace: null };
    await expect(configuredMounts(await s.load(), target)).rejects.toMatchObject({
      code: 'MOUNT_SOURCE_MISSING',
      message: expect.stringContaining(`${join(s.configDir, 'config.toml')}:3`),
      details: { key: 'docker.mounts.a.src', line: 3 },
    });
  });
});
