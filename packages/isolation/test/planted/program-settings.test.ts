import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
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
  ({ git_common_dir: common, program_settings: await programSettings(common, {}) }) as IsolationRecord;

describe('settings of a repository that run programs', () => {
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
    ['[url "ext::sh -c x"]\n\tinsteadOf = https://\n', 'url.ext::sh -c x.insteadof'],
  ])('%j is named when it was not there before', async (text, key) => {
    const record = await recordNow();
    expect(await plantedSettings(record)).toEqual([]);
    write(text);
    expect(await plantedSettings(record)).toEqual([key]);
  });

  test('what was there is no news, but another value of it is', async () => {
    write('[core]\n\tfsmonitor = watchman\n');
    const record = await recordNow();
    expect(record.program_settings).toEqual([expect.stringMatching(/^core\.fsmonitor [0-9a-f]{16}$/)]);
    write('[user]\n\tname = somebody\n');
    expect(await plantedSettings(record)).toEqual([]);
    write('[core]\n\tfsmonitor = touch marker\n');
    expect(await plantedSettings(record)).toEqual(['core.fsmonitor']);
  });

  test('a record from before says nothing, but a configuration nobody can read is named', async () => {
    expect(await plantedSettings({ git_common_dir: common } as IsolationRecord)).toEqual([]);
    const record = await recordNow();
    rmSync(join(common, 'config'));
    expect(await plantedSettings(record)).toEqual(['the configuration cannot be read']);
  });
});
