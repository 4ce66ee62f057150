import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createWorkspace,
  editConfig,
  editWorkspace,
  removeWorkspace,
  renameWorkspace,
  settingsOf,
  type TomlEdit,
} from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { differences } from '../../src/edit/differences.ts';
import { scratch } from '../helpers.ts';

const DRY = { events: () => {}, dryRun: true };

describe('what is said to have changed', () => {
  test.each([
    ['a value', 'a = 1', 'a = 2', [{ key: 'a', before: 1, after: 2 }]],
    ['a value that is new', '', '[a]\n"b c" = true', [{ key: 'a."b c"', before: null, after: true }]],
    [
      'a table that is gone',
      '[a]\nb = 1\n[a.c]\nd = 2',
      '[a]\nb = 1',
      [{ key: 'a.c.d', before: 2, after: null }],
    ],
    [
      'an element of a list',
      'a = ["x", "y"]',
      'a = ["y", "z"]',
      [
        { key: 'a', before: 'x', after: null },
        { key: 'a', before: null, after: 'z' },
      ],
    ],
    ['a list that became a text', 'a = ["x"]', 'a = "x"', [{ key: 'a', before: ['x'], after: 'x' }]],
    [
      'a literal variable, hidden',
      '[env]\nA = "secret-1"',
      '[env]\nA = "secret-2"',
      [{ key: 'env.A', before: '***', after: '***' }],
    ],
    [
      'references, shown',
      '[env]\nA = "$A"',
      '[roles.x.env]\nB = { op = "op://v/i/f", account = "me" }',
      [
        { key: 'env.A', before: '$A', after: null },
        { key: 'roles.x.env.B', before: null, after: { op: 'op://v/i/f', account: 'me' } },
      ],
    ],
    [
      'a literal on demand, hidden',
      '',
      '[github.env]\nA = { value = "secret-1", on_demand = true, of_mine = "secret-2" }',
      [{ key: 'github.env.A', before: null, after: { value: '***', on_demand: true } }],
    ],
    [
      'what is called a secret',
      '',
      '[of_mine]\napi_token = "secret-1"',
      [{ key: 'of_mine.api_token', before: null, after: '***' }],
    ],
    [
      'a password in an address',
      '',
      '[roles.x]\ngit = "https://me:secret-1@example.com/x"',
      [{ key: 'roles.x.git', before: null, after: 'https://[redacted]@example.com/x' }],
    ],
    [
      'nothing but the version and the way it is written',
      'version = "a"\na = { b = 1 }',
      'version = "b"\n[a]\nb = 1',
      [],
    ],
  ])('%s', (_what, before, after, expected) => {
    const found = differences(before, after);
    expect(found).toEqual(expected);
    expect(JSON.stringify(found)).not.toMatch(/secret-\d/);
  });
});

describe('a dry run', () => {
  const OLD = 'dirty_exit_policy = "discard"\n';
  const PROJ = 'workdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n';

  test('says what would change, and takes no lock and writes nothing', async () => {
    await using s = await scratch({ 'config.toml': OLD, 'workspaces/proj.toml': PROJ });
    const edits: TomlEdit[] = [{ path: ['env', 'A'], set: '$B' }];
    const change = { key: 'env.A', before: null, after: '$B' };
    expect(await editConfig(s.paths, edits, DRY)).toMatchObject({ changed: true, changes: [change] });
    expect(await editWorkspace(s.paths, 'proj', edits, DRY)).toMatchObject({
      changed: true,
      changes: [change],
    });
    expect(
      await createWorkspace(s.paths, 'new', { workdir: '/w', mounts: [{ src: '/s', dst: '/w' }] }, DRY),
    ).toMatchObject({
      changed: true,
      changes: [
        { key: 'workdir', before: null, after: '/w' },
        { key: 'mounts', before: null, after: { src: '/s', dst: '/w' } },
      ],
    });
    await renameWorkspace(s.paths, 'proj', 'other', DRY);
    await removeWorkspace(s.paths, 'proj', DRY);
    expect((await readdir(s.configDir)).sort()).toEqual(['config.toml', 'workspaces']);
    expect(await readdir(join(s.configDir, 'workspaces'))).toEqual(['proj.toml']);
    expect(await readFile(join(s.configDir, 'config.toml'), 'utf8')).toBe(OLD);
    expect(await readFile(join(s.configDir, 'workspaces/proj.toml'), 'utf8')).toBe(PROJ);
  });

  test('is refused for what the real one would be refused for', async () => {
    await using s = await scratch({ 'workspaces/proj.toml': PROJ });
    const invalid: TomlEdit[] = [{ path: ['dirty_exit_policy'], set: 'discard' }];
    await expect(editConfig(s.paths, invalid, DRY)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(renameWorkspace(s.paths, 'proj', 'a/b', DRY)).rejects.toMatchObject({
      code: 'WORKSPACE_NAME_INVALID',
    });
    await expect(removeWorkspace(s.paths, 'no', DRY)).rejects.toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
  });
});

test('settings name every value that counts, with the line it is written on or that it is a default', async () => {
  await using s = await scratch({
    'config.toml': '# c\ndirty_exit_policy = "keep"\nof_mine = 1\n\n[env]\nA = "hidden"\nB = "$B"\n',
  });
  const { config, sources } = await s.load();
  const settings = settingsOf(config, sources?.config);
  expect(settings).toEqual(
    expect.arrayContaining([
      { key: 'dirty_exit_policy', value: 'keep', source: 'file', line: 2 },
      { key: 'of_mine', value: 1, source: 'file', line: 3 },
      { key: 'env.A', value: '***', source: 'file', line: 6 },
      { key: 'env.B', value: '$B', source: 'file', line: 7 },
      { key: 'attach.prefix', value: 'C-b', source: 'default', line: null },
      { key: 'runtime.default_backend', value: 'docker', source: 'default', line: null },
    ]),
  );
  expect(settings.map(({ key }) => key)).toEqual(settings.map(({ key }) => key).sort());
});
