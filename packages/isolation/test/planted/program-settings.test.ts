import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { plantedSettings } from '../../src/index.ts';
import { programSettings } from '../../src/planted/program-settings.ts';

let root: string;
let common: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'jackin-planted-'));
  execFileSync('git', ['init', '-q', root]);
  common = join(root, '.git');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (text: string) => appendFileSync(join(common, 'config'), text);
const recordNow = async (): Promise<IsolationRecord> =>
  ({ git_common_dir: common, settings_at_launch: await programSettings(common, {}) }) as IsolationRecord;

describe('settings of a repository that may run programs', () => {
  test.each([
    ['[core]\n\tfsmonitor = touch marker\n', 'core.fsmonitor'],
    ['[core]\n\thooksPath = .evil\n', 'core.hookspath'],
    ['[core]\n\tsshCommand = touch marker\n', 'core.sshcommand'],
    ['[filter "x y"]\n\tclean = touch marker\n', 'filter.x y.clean'],
    ['[diff "x"]\n\ttextconv = touch marker\n', 'diff.x.textconv'],
    ['[diff]\n\texternal = touch marker\n', 'diff.external'],
    ['[merge "x"]\n\tdriver = touch marker\n', 'merge.x.driver'],
    ['[alias]\n\tst = !touch marker\n', 'alias.st'],
    [
      '[credential "https://example.test"]\n\thelper = !touch marker\n',
      'credential.https://example.test.helper',
    ],
    ['[include]\n\tpath = ../planted\n', 'include.path'],
    ['[includeIf "gitdir:/"]\n\tpath = ../planted\n', 'includeif.gitdir:/.path'],
    ['[gpg "ssh"]\n\tprogram = touch marker\n', 'gpg.ssh.program'],
    ['[remote "origin"]\n\tuploadpack = touch marker\n', 'remote.origin.uploadpack'],
    ['[submodule "x"]\n\tupdate = !touch marker\n', 'submodule.x.update'],
    ['[core]\n\tworktree = /elsewhere\n', 'core.worktree'],
    ['[protocol "ext"]\n\tallow = always\n', 'protocol.ext.allow'],
    ['[remote "origin"]\n\turl = ext::sh -c touch% marker\n', 'remote.origin.url'],
    ['[branch "main"]\n\tremote = ext::sh -c touch% marker\n', 'branch.main.remote'],
    ['[branch "main"]\n\tmergeOptions = -S\n', 'branch.main.mergeoptions'],
    ['[remote]\n\tpushDefault = --upload-pack=touch\n', 'remote.pushdefault'],
    ['[remote "origin"]\n\tpushurl = /agent/evil.git\n', 'remote.origin.pushurl'],
    ['[remote "origin"]\n\turl = ../evil.git\n', 'remote.origin.url'],
    ['[remote "origin"]\n\turl = ssh://-oProxyCommand=touch/x\n', 'remote.origin.url'],
    ['[remote "origin"]\n\tfetch = +refs/heads/*:refs/heads/*\n', 'remote.origin.fetch'],
    ['[remote "origin"]\n\tmirror = true\n', 'remote.origin.mirror'],
    ['[branch "main"]\n\tpushRemote = /agent/evil.git\n', 'branch.main.pushremote'],
    ['[gpg "ssh"]\n\tdefaultKeyCommand = touch marker\n', 'gpg.ssh.defaultkeycommand'],
    ['[gc]\n\trecentObjectsHook = touch marker\n', 'gc.recentobjectshook'],
    ['[lfs "customtransfer.x"]\n\tpath = touch\n', 'lfs.customtransfer.x.path'],
    ['[extensions]\n\tworktreeConfig = true\n', 'extensions.worktreeconfig'],
    ['[setting "git"]\n\tlearns = later\n', 'setting.git.learns'],
    ['[url "ext::sh -c x"]\n\tinsteadOf = https://\n', 'url.ext::sh -c x.insteadof'],
  ])('%j is named when it was not there before', async (text, key) => {
    const record = await recordNow();
    expect(await plantedSettings(record)).toEqual([]);
    write(text);
    expect(await plantedSettings(record)).toEqual([key]);
  });

  test.each([
    '[remote "fork.of"]\n\turl = git@example.test:a/b\n\tfetch = +refs/heads/*:refs/remotes/fork/*\n',
    '[remote "up"]\n\turl = https://example.test/a.git\n\tpushurl = ssh://git@example.test/a.git\n\tfetch = +refs/pull/*/head:refs/remotes/up/pr/*\n',
    '[branch "local"]\n\tremote = .\n\tmerge = refs/heads/main\n',
    '[branch "topic"]\n\tremote = origin\n\tmerge = refs/heads/topic\n\tvscode-merge-base = origin/main\n',
    '[submodule "lib"]\n\tactive = true\n\turl = https://example.test/lib\n',
    '[user]\n\temail = a@example.test\n[commit]\n\tgpgSign = true\n[pull]\n\trebase = true\n',
    '[lfs]\n\trepositoryFormatVersion = 0\n[lfs "https://example.test/a.git/info/lfs"]\n\taccess = basic\n',
  ])('%j, as people and their tools write it every day, is not named', async (text) => {
    const record = await recordNow();
    write(text);
    expect(await plantedSettings(record)).toEqual([]);
  });

  test('what was there is no news, but another value of it is', async () => {
    write('[core]\n\tfsmonitor = watchman\n');
    const record = await recordNow();
    expect(record.settings_at_launch).toContainEqual(expect.stringMatching(/^core\.fsmonitor [0-9a-f]{16}$/));
    write('[user]\n\tname = somebody\n');
    expect(await plantedSettings(record)).toEqual([]);
    write('[core]\n\tfsmonitor = touch marker\n');
    expect(await plantedSettings(record)).toEqual(['core.fsmonitor']);
  });

  test('what is planted for the main working tree alone is named, too', async () => {
    const record = await recordNow();
    appendFileSync(join(common, 'config.worktree'), '[core]\n\tfsmonitor = touch marker\n');
    expect(await plantedSettings(record)).toEqual(['core.fsmonitor']);
    rmSync(join(common, 'config.worktree'));
    symlinkSync('/dev/zero', join(common, 'config.worktree'));
    expect(await plantedSettings(record)).toEqual(['the configuration cannot be read']);
  });

  test('a file that makes git read all of it elsewhere is named', async () => {
    const record = await recordNow();
    writeFileSync(join(common, 'commondir'), 'evil\n');
    expect(await plantedSettings(record)).toEqual([expect.stringContaining('commondir')]);
  });

  test('what is planted in the own registration is named, whether or not git reads it by now', async () => {
    const record = { ...(await recordNow()), registration: 'tree' } as IsolationRecord;
    mkdirSync(join(common, 'worktrees/tree'), { recursive: true });
    expect(await plantedSettings(record)).toEqual([]);
    writeFileSync(join(common, 'worktrees/tree/config.worktree'), '[core]\n\tfsmonitor = touch marker\n');
    expect(await plantedSettings(record)).toEqual([expect.stringContaining('core.fsmonitor')]);
  });

  test('a record from before says nothing, but a configuration nobody can read is named', async () => {
    expect(await plantedSettings({ git_common_dir: common } as IsolationRecord)).toEqual([]);
    const record = await recordNow();
    rmSync(join(common, 'config'));
    expect(await plantedSettings(record)).toEqual(['the configuration cannot be read']);
  });

  test('a repository that is not there any more has none', async () => {
    const record = await recordNow();
    rmSync(common, { recursive: true });
    expect(await plantedSettings(record)).toEqual([]);
  });
});
