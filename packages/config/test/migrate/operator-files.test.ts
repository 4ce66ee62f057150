import { cp, lstat, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig, migrateOperatorFiles } from '@jackin/config';
import type { JackinEvent } from '@jackin/core';
import { describe, expect, test } from '@jest/globals';
import { type Scratch, scratch } from '../helpers.ts';

const SAMPLE = fileURLToPath(new URL('../../../../fixtures/rust-state/config', import.meta.url));

const migrate = (s: Scratch, events: JackinEvent[] = []) =>
  migrateOperatorFiles(s.paths, { events: (event) => events.push(event), waitMs: 0 });
const read = (s: Scratch, name: string) => readFile(join(s.configDir, name), 'utf8');

describe('the configuration of the Rust jackin', () => {
  test('is migrated in place: discard becomes clean, and every other line stays', async () => {
    await using s = await scratch({});
    await cp(SAMPLE, s.configDir, { recursive: true });
    const before = await s.load();
    expect(await migrate(s)).toEqual([
      { file: join(s.configDir, 'workspaces/proj.toml'), from: 'v1alpha8', to: 'v1alpha9' },
      { file: join(s.configDir, 'config.toml'), from: 'v1alpha9', to: 'v1alpha10' },
    ]);
    for (const [name, changed] of [
      ['config.toml', { 1: 'version = "v1alpha10"', 3: 'dirty_exit_policy = "clean"' }],
      ['workspaces/proj.toml', { 1: 'version = "v1alpha9"' }],
    ] as [string, Record<number, string>][]) {
      const old = (await readFile(join(SAMPLE, name), 'utf8')).split('\n');
      const now = (await read(s, name)).split('\n');
      expect(now).toEqual(old.map((line, index) => changed[index + 1] ?? line));
    }
    const after = await s.load();
    expect([after.config, [...after.workspaces]]).toEqual([before.config, [...before.workspaces]]);
    expect(after.config.dirty_exit_policy).toBe('clean');
  });

  test('is not written a second time, and no lock is taken for it', async () => {
    await using s = await scratch({});
    await cp(SAMPLE, s.configDir, { recursive: true });
    await migrate(s);
    const seen = () =>
      Promise.all(['config.toml', 'workspaces/proj.toml'].map((name) => stat(join(s.configDir, name))));
    const first = await seen();
    const events: JackinEvent[] = [];
    expect(await migrate(s, events)).toEqual([]);
    expect((await seen()).map(({ mtimeMs, ino }) => [mtimeMs, ino])).toEqual(
      first.map(({ mtimeMs, ino }) => [mtimeMs, ino]),
    );
    expect(events).toEqual([]);
  });
});

describe('workspaces in config.toml', () => {
  const CONFIG = [
    '# mine',
    '[env]',
    'A = "b" # kept',
    '',
    '# the project',
    '[workspaces.proj] # p',
    'workdir = "/w"',
    'op_account = "acme"',
    '[[workspaces.proj.mounts]] # code',
    'src = "/s"',
    'dst = "/w"',
    '[workspaces.proj.env]',
    'T = { op = "op://v/i/f" }',
    '',
    '[workspaces."mit ü"]',
    'workdir = "/v"',
    'mounts = [{ src = "/s", dst = "/v" }]',
    'dirty_exit_policy = "discard"',
    '',
    '[git]',
    'dco = true',
    '',
  ].join('\n');
  const SPLIT = {
    'config.toml': 'version = "v1alpha10"\n\n# mine\n[env]\nA = "b" # kept\n\n[git]\ndco = true\n',
    'workspaces/proj.toml': [
      'version = "v1alpha9"',
      '# the project',
      '# p',
      'workdir = "/w"',
      '[[mounts]] # code',
      'src = "/s"',
      'dst = "/w"',
      '[env]',
      'T = { op = "op://v/i/f", account = "acme" }',
      '',
    ].join('\n'),
    'workspaces/mit ü.toml':
      'version = "v1alpha9"\nworkdir = "/v"\nmounts = [{ src = "/s", dst = "/v" }]\ndirty_exit_policy = "clean"\n',
  };
  const state = async (s: Scratch) =>
    Object.fromEntries(
      await Promise.all(Object.keys(SPLIT).map(async (name) => [name, await read(s, name)])),
    );

  test('become files of their own, comments and all', async () => {
    await using s = await scratch({ 'config.toml': CONFIG });
    const before = await s.load();
    await migrate(s);
    expect(await state(s)).toEqual(SPLIT);
    const after = await s.load();
    expect([...after.workspaces]).toEqual([...before.workspaces]);
    expect(after.config).toEqual(before.config);
    expect(await migrate(s)).toEqual([]);
  });

  test('are finished by the next migration when one was killed after some of the files', async () => {
    await using s = await scratch({
      'config.toml': CONFIG,
      'workspaces/proj.toml': SPLIT['workspaces/proj.toml'],
    });
    expect((await migrate(s)).map(({ file }) => file.slice(s.configDir.length + 1))).toEqual([
      'workspaces/mit ü.toml',
      'config.toml',
    ]);
    expect(await state(s)).toEqual(SPLIT);
  });

  test.each(['v1alpha5', 'v1alpha8', 'v1alpha9', 'v1alpha10'])(
    'of a config.toml of %s are read as of its time',
    async (version) => {
      const policy = version === 'v1alpha10' ? 'clean' : 'discard';
      const text = `version = "${version}"\n[workspaces.w]\nworkdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\nop_account = "x"\ndirty_exit_policy = "${policy}"\nenv = { A = { op = "op://v/i/f" } }\n`;
      await using s = await scratch({ 'config.toml': text });
      const { workspaces } = await s.load();
      expect(workspaces.get('w')).toMatchObject({
        version: 'v1alpha9',
        dirty_exit_policy: 'clean',
        op_account: 'x',
        env: { A: { op: 'op://v/i/f' } },
      });
      await migrate(s);
      expect(await read(s, 'config.toml')).toBe('version = "v1alpha10"\n');
      expect((await s.load()).workspaces.get('w')).toEqual(workspaces.get('w'));
    },
  );

  test('that contradict their file leave both untouched, and everything else, too', async () => {
    const own = '# mine\nworkdir = "/other"\n';
    const config =
      'version = "v1alpha3"\n[workspaces.proj]\nworkdir = "/w"\n[workspaces.other]\nworkdir = "/o"\n';
    await using s = await scratch({ 'config.toml': config, 'workspaces/proj.toml': own });
    const error = {
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${join(s.configDir, 'config.toml')}:2: workspaces.proj: `),
      hint: expect.stringContaining('[workspaces.proj]'),
    };
    await expect(migrate(s)).rejects.toMatchObject(error);
    await expect(s.load()).rejects.toMatchObject(error);
    expect([await read(s, 'config.toml'), await read(s, 'workspaces/proj.toml')]).toEqual([config, own]);
    expect(await readdir(join(s.configDir, 'workspaces'))).toEqual(['proj.toml']);
  });

  test('whose names cannot be files are refused by line', async () => {
    await using s = await scratch({ 'config.toml': '[workspaces."../x"]\nworkdir = "/w"\n' });
    await expect(migrate(s)).rejects.toMatchObject({ code: 'CONFIG_INVALID', details: { line: 1 } });
  });
});

test('nothing is written when one of the files cannot be understood', async () => {
  const old = 'version = "v1alpha3"\n';
  await using s = await scratch({ 'config.toml': old, 'workspaces/w.toml': 'workdir = 1\n' });
  await expect(migrate(s)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    details: { key: 'workdir', line: 1 },
  });
  expect(await read(s, 'config.toml')).toBe(old);
  expect((await readdir(s.configDir)).filter((name) => name.includes('jktmp'))).toEqual([]);
});

test('a file that is a link stays one, with its mode, and so does a directory that is one', async () => {
  await using s = await scratch({ 'config.toml': '# c\n' }, ['dotfiles/']);
  await rename(s.configDir, join(s.root, 'dotfiles/jackin'));
  await symlink('dotfiles/jackin', s.configDir);
  await mkdir(join(s.root, 'elsewhere'));
  await rename(join(s.configDir, 'config.toml'), join(s.root, 'elsewhere/real.toml'));
  await writeFile(join(s.root, 'elsewhere/real.toml'), '# c\n', { mode: 0o640 });
  await symlink('../../elsewhere/real.toml', join(s.configDir, 'config.toml'));
  await migrate(s);
  expect((await lstat(s.configDir)).isSymbolicLink()).toBe(true);
  expect((await lstat(join(s.configDir, 'config.toml'))).isSymbolicLink()).toBe(true);
  expect(await readFile(join(s.root, 'elsewhere/real.toml'), 'utf8')).toBe('version = "v1alpha10"\n\n# c\n');
  expect(await loadConfig(s.paths)).toMatchObject({ config: { version: 'v1alpha10' } });
});
