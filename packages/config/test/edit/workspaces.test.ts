import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorkspace, editWorkspace, removeWorkspace, renameWorkspace } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { type Scratch, scratch } from '../helpers.ts';

const OPTIONS = { events: () => {}, waitMs: 0 };
const MOUNT = { src: '/s', dst: '/w' };
const TEXT = '# mine\nversion = "v1alpha9"\nworkdir = "/w" # here\n\n[[mounts]]\nsrc = "/s"\ndst = "/w"\n';
const read = (s: Scratch, name: string) => readFile(join(s.configDir, `workspaces/${name}.toml`), 'utf8');
const names = async (s: Scratch) => (await readdir(join(s.configDir, 'workspaces'))).sort();

describe('createWorkspace', () => {
  test('writes a file that reads as it was meant', async () => {
    await using s = await scratch({});
    const made = await createWorkspace(
      s.paths,
      'proj',
      {
        workdir: '/w',
        default_role: undefined,
        mounts: [MOUNT, { src: '~/n', dst: '/w/n', readonly: true }],
        env: { A: { op: 'op://v/i/f' } },
        roles: { smith: { env: { B: '$B' } } },
      },
      OPTIONS,
    );
    expect(made).toMatchObject({ file: join(s.configDir, 'workspaces/proj.toml'), changed: true });
    expect(await read(s, 'proj')).toBe(
      [
        'version = "v1alpha9"',
        'workdir = "/w"',
        '',
        '[[mounts]]',
        'src = "/s"',
        'dst = "/w"',
        '',
        '[[mounts]]',
        'src = "~/n"',
        'dst = "/w/n"',
        'readonly = true',
        '',
        '[env]',
        'A = { op = "op://v/i/f" }',
        '',
        '[roles.smith.env]',
        'B = "$B"',
        '',
      ].join('\n'),
    );
    expect((await s.load()).problems).toEqual([]);
  });

  test('refuses what exists, as a file, as a link or in config.toml', async () => {
    await using s = await scratch({
      'config.toml': '[workspaces.inline]\nworkdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n',
      'workspaces/proj.toml': TEXT,
    });
    await symlink('/nowhere.toml', join(s.configDir, 'workspaces/linked.toml')).catch(() => {});
    for (const name of ['proj', 'inline']) {
      await expect(
        createWorkspace(s.paths, name, { workdir: '/w', mounts: [MOUNT] }, OPTIONS),
      ).rejects.toMatchObject({
        code: 'WORKSPACE_EXISTS',
        message: expect.stringContaining(name),
      });
    }
    expect(await read(s, 'proj')).toBe(TEXT);
  });

  test.each(['', ' a', '../a', 'a/b', '.hidden', '-x', 'a\nb', 'x'.repeat(201)])(
    'refuses the name %j',
    async (name) => {
      await using s = await scratch({});
      await expect(
        createWorkspace(s.paths, name, { workdir: '/w', mounts: [MOUNT] }, OPTIONS),
      ).rejects.toMatchObject({
        code: 'WORKSPACE_NAME_INVALID',
        exitCode: 2,
      });
    },
  );

  test('refuses a workspace that could not be used, and writes none', async () => {
    await using s = await scratch({});
    for (const value of [{}, { workdir: '/w', mounts: [] }, { workdir: 'w', mounts: [MOUNT] }]) {
      await expect(createWorkspace(s.paths, 'w', value, OPTIONS)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        details: { key: 'workdir' },
      });
    }
    expect(await readdir(s.configDir)).toEqual(['config.lock']);
  });
});

describe('editWorkspace', () => {
  test('changes what it is asked to and keeps the rest', async () => {
    await using s = await scratch({ 'workspaces/proj.toml': TEXT });
    const edits = [
      { path: ['mounts'], append: { src: '/n', dst: '/n' } },
      { path: ['dirty_exit_policy'], set: 'keep' },
    ];
    expect(await editWorkspace(s.paths, 'proj', edits, OPTIONS)).toMatchObject({ changed: true });
    expect(await read(s, 'proj')).toBe(
      '# mine\nversion = "v1alpha9"\nworkdir = "/w" # here\ndirty_exit_policy = "keep"\n\n[[mounts]]\nsrc = "/s"\ndst = "/w"\n\n[[mounts]]\nsrc = "/n"\ndst = "/n"\n',
    );
    expect(await editWorkspace(s.paths, 'proj', [edits[1] as never], OPTIONS)).toMatchObject({
      changed: false,
    });
  });

  test('takes a workspace out of config.toml on the way, and leaves other files alone', async () => {
    await using s = await scratch({
      'config.toml': '# c\n[workspaces.proj]\nworkdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n',
      'workspaces/old.toml': 'workdir = "/old"\n',
      'workspaces/broken.toml': 'workdir = = "/old"\n',
    });
    await editWorkspace(s.paths, 'proj', [{ path: ['default_role'], set: 'shell' }], OPTIONS);
    expect(await read(s, 'proj')).toBe(
      'version = "v1alpha9"\n# c\nworkdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\ndefault_role = "shell"\n',
    );
    expect(await readFile(join(s.configDir, 'config.toml'), 'utf8')).toBe('version = "v1alpha10"\n');
    expect(await read(s, 'old')).toBe('workdir = "/old"\n');
  });

  test('of a name that is not there lists those that are', async () => {
    await using s = await scratch({ 'workspaces/proj.toml': TEXT });
    for (const name of ['other', '../config', '']) {
      await expect(editWorkspace(s.paths, name, [], OPTIONS)).rejects.toMatchObject({
        code: 'WORKSPACE_NOT_FOUND',
        hint: 'Workspaces: proj',
      });
    }
  });
});

describe('renameWorkspace', () => {
  test('moves the file, byte for byte, and a link as a link', async () => {
    await using s = await scratch({ 'workspaces/proj.toml': TEXT, 'elsewhere.toml': TEXT });
    await renameWorkspace(s.paths, 'proj', 'new ü', OPTIONS);
    expect(await read(s, 'new ü')).toBe(TEXT);
    await symlink('../elsewhere.toml', join(s.configDir, 'workspaces/linked.toml'));
    await renameWorkspace(s.paths, 'linked', 'other', OPTIONS);
    expect((await lstat(join(s.configDir, 'workspaces/other.toml'))).isSymbolicLink()).toBe(true);
    expect(await names(s)).toEqual(['new ü.toml', 'other.toml']);
    expect(await renameWorkspace(s.paths, 'other', 'other', OPTIONS)).toMatchObject({ changed: false });
  });

  test('over another one is refused, and neither changes', async () => {
    await using s = await scratch({ 'workspaces/a.toml': TEXT, 'workspaces/b.toml': `${TEXT}# b\n` });
    await expect(renameWorkspace(s.paths, 'a', 'b', OPTIONS)).rejects.toMatchObject({
      code: 'WORKSPACE_EXISTS',
    });
    await expect(renameWorkspace(s.paths, 'c', 'd', OPTIONS)).rejects.toMatchObject({
      code: 'WORKSPACE_NOT_FOUND',
    });
    await expect(renameWorkspace(s.paths, 'a', '../d', OPTIONS)).rejects.toMatchObject({
      code: 'WORKSPACE_NAME_INVALID',
    });
    expect([await read(s, 'a'), await read(s, 'b')]).toEqual([TEXT, `${TEXT}# b\n`]);
  });
});

describe('removeWorkspace', () => {
  test('removes the file, also a broken one, and of a link only the link', async () => {
    await using s = await scratch({
      'workspaces/proj.toml': TEXT,
      'workspaces/broken.toml': '= =',
      'elsewhere.toml': TEXT,
    });
    await symlink('../elsewhere.toml', join(s.configDir, 'workspaces/linked.toml'));
    for (const name of ['proj', 'broken', 'linked']) {
      expect(await removeWorkspace(s.paths, name, OPTIONS)).toMatchObject({ changed: true });
    }
    expect(await names(s)).toEqual([]);
    expect(await readFile(join(s.configDir, 'elsewhere.toml'), 'utf8')).toBe(TEXT);
    await expect(removeWorkspace(s.paths, 'proj', OPTIONS)).rejects.toMatchObject({
      code: 'WORKSPACE_NOT_FOUND',
    });
  });

  test('reaches one that is still in config.toml, and nothing outside of the directory', async () => {
    await using s = await scratch({ 'config.toml': '[workspaces.w]\nworkdir = "/w"\n\n[env]\nA = "b"\n' });
    await mkdir(join(s.configDir, 'workspaces'));
    await writeFile(join(s.root, 'precious.toml'), '');
    await removeWorkspace(s.paths, 'w', OPTIONS);
    expect(await readFile(join(s.configDir, 'config.toml'), 'utf8')).toBe(
      'version = "v1alpha10"\n\n[env]\nA = "b"\n',
    );
    expect(await names(s)).toEqual([]);
    await expect(removeWorkspace(s.paths, '../../precious', OPTIONS)).rejects.toMatchObject({
      code: 'WORKSPACE_NOT_FOUND',
    });
    expect(await readdir(s.root)).toContain('precious.toml');
  });
});
