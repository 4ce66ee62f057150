import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { editConfig, editWorkspace, type TomlEdit } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import { type Scratch, scratch } from '../helpers.ts';

const OPTIONS = { events: () => {}, waitMs: 0 };
const edit = (s: Scratch, ...edits: TomlEdit[]) => editConfig(s.paths, edits, OPTIONS);
const text = (s: Scratch) => readFile(join(s.configDir, 'config.toml'), 'utf8');
const git = (address: string): TomlEdit => ({ path: ['roles', 'mine', 'git'], set: address });

describe('trust was given to a repository, not to a name', () => {
  const TRUSTED = `version = "v1alpha10"

[roles.mine]
git = "https://example.test/one.git" # ours
trusted = true
`;

  test('an edit to another address takes it back', async () => {
    await using s = await scratch({ 'config.toml': TRUSTED });
    const { changes } = await edit(s, git('https://example.test/two.git'));
    expect(changes).toContainEqual({ key: 'roles.mine.trusted', before: true, after: null });
    expect(await text(s)).toBe(
      'version = "v1alpha10"\n\n[roles.mine]\ngit = "https://example.test/two.git" # ours\n',
    );
  });

  test('the same address, another setting, and an edit that gives trust itself keep it', async () => {
    for (const edits of [
      [git('https://example.test/one.git')],
      [{ path: ['git', 'dco'], set: true }],
      [git('https://example.test/two.git'), { path: ['roles', 'mine', 'trusted'], set: true }],
    ] satisfies TomlEdit[][]) {
      await using s = await scratch({ 'config.toml': TRUSTED });
      await edit(s, ...edits);
      expect(await text(s)).toContain('trusted = true');
    }
  });
});

test.each(['https://bob:hunter2@example.test/r.git', 'http://example.test/r.git', 'ext::sh -c true'])(
  'an address that no role can have is not written down: %s',
  async (address) => {
    await using s = await scratch({ 'config.toml': 'version = "v1alpha10"\n' });
    const refusal = edit(s, git(address));
    await expect(refusal).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(refusal).rejects.not.toMatchObject({ message: expect.stringContaining('hunter2') });
    expect(await text(s)).toBe('version = "v1alpha10"\n');
  },
);

test.each(['memroy', 'bogus'])('a grant nobody knows is refused where it is added: %s', async (key) => {
  await using s = await scratch({ 'config.toml': 'version = "v1alpha10"\n' });
  await expect(edit(s, { path: ['docker', 'grants', key], set: 1 })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`docker.grants.${key}`),
  });
});

test('an edit brings no file to the newest form that its migration would refuse', async () => {
  const bad = '[workspaces.bad]\nworkdir = 5\n';
  const fine = '[workspaces.good]\nworkdir = "/w"\nmounts = [{ src = "/s", dst = "/w" }]\n';
  const old = `dirty_exit_policy = "discard"\n${bad}${fine}`;
  await using s = await scratch({ 'config.toml': old });
  const edits = [
    () => edit(s, { path: ['git', 'dco'], set: true }),
    () => editWorkspace(s.paths, 'good', [{ path: ['git_pull_on_entry'], set: true }], OPTIONS),
  ];
  for (const refused of edits) {
    await expect(refused()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('workspaces.bad.workdir'),
    });
  }
  expect(await text(s)).toBe(old);
  expect(await readdir(s.configDir)).not.toContain('workspaces');
});
