import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { editConfig, exitPolicyEdit, type TomlEdit } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { type Scratch, scratch } from '../helpers.ts';

const OPTIONS = { events: () => {}, waitMs: 0 };
const edit = (s: Scratch, ...edits: TomlEdit[]) => editConfig(s.paths, edits, OPTIONS);
const text = (s: Scratch) => readFile(join(s.configDir, 'config.toml'), 'utf8');
const set = (path: (string | number)[], value: unknown): TomlEdit => ({ path, set: value });

describe('editConfig', () => {
  test('makes the file when there is none, and only when there is something to say', async () => {
    await using s = await scratch({});
    const file = join(s.configDir, 'config.toml');
    expect(await edit(s, { path: ['env', 'A'], remove: true })).toEqual({
      file,
      changed: false,
      changes: [],
    });
    expect(await readdir(s.configDir)).toEqual(['config.lock']);
    expect(await edit(s, set(['env', 'A'], '$A'), set(['runtime', 'default_backend'], 'standalone'))).toEqual(
      {
        file,
        changed: true,
        changes: [
          { key: 'env.A', before: null, after: '$A' },
          { key: 'runtime.default_backend', before: null, after: 'standalone' },
        ],
      },
    );
    expect(await text(s)).toBe(
      'version = "v1alpha10"\n\n[env]\nA = "$A"\n\n[runtime]\ndefault_backend = "standalone"\n',
    );
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('brings an older file to the newest form on the way', async () => {
    await using s = await scratch({ 'config.toml': '\uFEFF# c\r\ndirty_exit_policy = "discard" # d\r\n' });
    expect(await edit(s, set(['env', 'A'], 'b'))).toMatchObject({
      changed: true,
      changes: [{ key: 'env.A', before: null, after: '***' }],
    });
    expect(await text(s)).toBe(
      '\uFEFFversion = "v1alpha10"\r\n# c\r\ndirty_exit_policy = "clean" # d\r\n\r\n[env]\r\nA = "b"\r\n',
    );
  });

  test('an edit that changes nothing leaves file, times and inode alone', async () => {
    const content = '# c\nversion   =  "v1alpha10"\nenv = { A = \'b\' }\n';
    await using s = await scratch({ 'config.toml': content });
    const file = join(s.configDir, 'config.toml');
    const before = await stat(file);
    expect(await edit(s, set(['env', 'A'], 'b'), { path: ['roles', 'x'], remove: true })).toEqual({
      file,
      changed: false,
      changes: [],
    });
    const after = await stat(file);
    expect([after.ino, after.mtimeMs, after.ctimeMs]).toEqual([before.ino, before.mtimeMs, before.ctimeMs]);
  });

  test('keeps a linked file a link, and the mode of what it leads to', async () => {
    await using s = await scratch({}, ['dotfiles/']);
    await mkdir(s.configDir);
    const real = join(s.root, 'dotfiles/jackin.toml');
    await writeFile(real, 'version = "v1alpha10"\n');
    await chmod(real, 0o644);
    await symlink('../dotfiles/jackin.toml', join(s.configDir, 'config.toml'));
    await edit(s, set(['git', 'dco'], true));
    expect((await lstat(join(s.configDir, 'config.toml'))).isSymbolicLink()).toBe(true);
    expect(await readFile(real, 'utf8')).toBe('version = "v1alpha10"\n\n[git]\ndco = true\n');
    expect((await stat(real)).mode & 0o777).toBe(0o644);
    expect(await readdir(join(s.root, 'dotfiles'))).toEqual(['jackin.toml']);
  });

  test('a link that leads nowhere is told, not replaced', async () => {
    await using s = await scratch({ 'other.toml': '' });
    await symlink('/nowhere/at/all.toml', join(s.configDir, 'config.toml'));
    await expect(edit(s, set(['git', 'dco'], true))).rejects.toMatchObject({ code: 'LINK_TARGET_MISSING' });
    expect((await lstat(join(s.configDir, 'config.toml'))).isSymbolicLink()).toBe(true);
  });

  test('sets and clears the exit policy', async () => {
    const content = 'version = "v1alpha10"\n# how sessions end\ndirty_exit_policy = "ask" # asks\n[env]\n';
    await using s = await scratch({ 'config.toml': content });
    await edit(s, exitPolicyEdit('keep'));
    expect(await text(s)).toBe(content.replace('"ask"', '"keep"'));
    await edit(s, exitPolicyEdit(null));
    expect(await text(s)).toBe('version = "v1alpha10"\n# how sessions end\n[env]\n');
  });

  test('an invalid value can be corrected by an edit', async () => {
    await using s = await scratch({ 'config.toml': 'version = "v1alpha10"\ndirty_exit_policy = "clen"\n' });
    await edit(s, set(['dirty_exit_policy'], 'clean'));
    expect((await s.load()).config.dirty_exit_policy).toBe('clean');
  });

  test('a grant that is not enforced cannot be added, and one that was there keeps nothing from being edited', async () => {
    const content = 'version = "v1alpha10"\n\n[docker.grants]\nsudo = true # from before\n';
    await using s = await scratch({ 'config.toml': content });
    await edit(s, set(['git', 'dco'], true));
    await expect(edit(s, set(['docker', 'grants', 'network'], 'none'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      details: { key: 'docker.grants.network' },
    });
    await edit(s, { path: ['docker', 'grants', 'sudo'], remove: true });
    expect((await s.load()).problems).toEqual([]);
  });
});
