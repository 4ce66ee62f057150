import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { snapshot } from './support/evidence.ts';
import { killInstance } from './support/instance.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(180_000);

const CONFIG =
  '# mine\nversion = "v1alpha9" # v\n# at the end\ndirty_exit_policy = "discard" # d\nof_mine = 1\n';
const WORKSPACE = '# of it\nworkdir = "/w" # w\n\n[[mounts]]\nsrc = "/srv" # s\ndst = "/w"\n';
const MIGRATED = CONFIG.replace('v1alpha9', 'v1alpha10').replace('discard', 'clean');

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
  mkdirSync(join(sandbox.config, 'workspaces'));
});
afterEach(() => sandbox.dispose());

const config = () => join(sandbox.config, 'config.toml');
const workspace = () => join(sandbox.config, 'workspaces/app.toml');

function writeOld(): void {
  writeFileSync(config(), CONFIG);
  writeFileSync(workspace(), WORKSPACE);
}

describe('older files', () => {
  test.each([
    ['status', ['status'], 0],
    ['status of one', ['status', 'ID', '--detail'], 0],
    ['doctor', ['doctor'], 1],
    ['hardline --inspect', ['hardline', 'ID', '--inspect'], 0],
    ['a dry run of stop', ['stop', 'ID', '--dry-run'], 0],
    ['a dry run of purge', ['purge', 'ID', '--dry-run'], 0],
    ['a dry run of an edit', ['config', 'exit-policy', 'keep', '--dry-run'], 0],
    ['a dry run of a load', ['load', 'shell', '.', '--backend', 'standalone', '--new', '--dry-run'], 0],
  ])('are read and not written by %s', async (_what, args, code) => {
    const { id } = args.includes('ID') ? await sandbox.loadShell(['sleep', '1000']) : { id: '' };
    writeOld();
    const before = snapshot(sandbox.config);
    const run = await sandbox.jackin(args.map((word) => (word === 'ID' ? id : word)));
    expect([run.code, run.stderr]).toEqual([code, expect.not.stringContaining('was brought')]);
    expect(snapshot(sandbox.config)).toEqual(before);
  });

  test.each([
    ['load', ['load', 'shell', '.', '--backend', 'standalone', '--new', '--detach', '--', 'sleep', '1000']],
    ['resume', ['resume', 'ID', '--detach']],
    ['resume --all', ['resume', '--all']],
    ['stop', ['stop', 'ID', '--keep']],
    ['eject', ['eject', 'ID']],
    ['purge', ['purge', 'ID', '--yes']],
    ['exile', ['exile', '--yes']],
    ['workspace list', ['workspace', 'list']],
    ['config show', ['config', 'show']],
    ['an edit', ['workspace', 'env', 'set', 'app', 'A=b']],
  ])(
    'are brought to the newest form by %s, each with one notice, every comment kept',
    async (_what, args) => {
      const { id } = args.includes('ID') ? await sandbox.loadShell(['sleep', '1000']) : { id: '' };
      writeOld();
      const run = await sandbox.jackin(args.map((word) => (word === 'ID' ? id : word)));
      expect([run.code, run.stdout]).toEqual([0, expect.any(String)]);
      const told = run.stderr.split('\n').filter((line) => line.includes('was brought'));
      expect(told).toEqual([
        `note: ${workspace()} was brought from version legacy to v1alpha9; everything else of it stays as it was`,
        `note: ${config()} was brought from version v1alpha9 to v1alpha10; everything else of it stays as it was`,
      ]);
      expect(readFileSync(config(), 'utf8')).toBe(MIGRATED);
      expect(readFileSync(workspace(), 'utf8')).toMatch(
        /^version = "v1alpha9"\n# of it\nworkdir = "\/w" # w\n/,
      );
      const again = await sandbox.jackin(['config', 'exit-policy']);
      expect([again.stdout, again.stderr]).toEqual(['clean (global)\n', '']);
    },
  );

  test('of a version that is too new are refused, and a session is stopped all the same', async () => {
    const { id } = await sandbox.loadShell(['sleep', '1000']);
    writeFileSync(config(), 'version = "v2"\n');
    const before = snapshot(sandbox.config);
    const refused = await sandbox.jackin(['config', 'show', '--json']);
    expect([refused.code, refused.json().error.code]).toEqual([1, 'CONFIG_TOO_NEW']);
    expect((await sandbox.jackin(['stop', id, '--keep'])).code).toBe(0);
    expect(snapshot(sandbox.config)).toEqual(before);
  });
});

/** Each makes writing impossible, and gives back what ends that. */
const obstacles: [string, string, () => Promise<() => Promise<void>>][] = [
  [
    'in a directory that can only be read',
    'STATE_NOT_WRITABLE',
    async () => {
      execFileSync('mount', ['--bind', sandbox.config, sandbox.config]);
      execFileSync('mount', ['-o', 'remount,bind,ro', sandbox.config]);
      return async () => void execFileSync('umount', [sandbox.config]);
    },
  ],
  [
    'while somebody else edits',
    'LOCK_HELD',
    async () => {
      const lock = await acquireLock(join(sandbox.config, 'config.lock'), {
        purpose: 'edit workspace other',
        locksDb: join(sandbox.state, 'data/locks.db'),
        waitMs: 0,
      });
      return () => lock.release();
    },
  ],
];

describe.each(obstacles)('older files %s', (_where, code, begin) => {
  test('keep no session from being loaded, resumed and stopped: they count as they are, with one warning', async () => {
    const instance = await sandbox.loadShell(['sleep', '1000']);
    await killInstance(instance);
    writeOld();
    const before = [readFileSync(config(), 'utf8'), statSync(config()).mtimeMs];
    const end = await begin();
    try {
      for (const args of [
        ['resume', instance.id, '--detach', '--json'],
        [
          'load',
          'shell',
          '.',
          '--backend',
          'standalone',
          '--new',
          '--detach',
          '--json',
          '--',
          'sleep',
          '1000',
        ],
        ['stop', instance.id, '--json'],
      ]) {
        const run = await sandbox.jackin(args);
        expect([args, run.code]).toEqual([args, 0]);
        expect(run.stderr.match(/^warning: .*could not be brought up to date/gm)).toHaveLength(1);
        // The policy of the file as it is: `discard`, which is called clean now.
        if (args[0] === 'stop') {
          expect(run.json().data).toMatchObject({
            outcome: 'cleaned',
            policy: { value: 'clean', source: 'global' },
          });
        }
      }
      expect((await sandbox.jackin(['workspace', 'list'])).code).toBe(0);
      const edit = await sandbox.jackin(['config', 'exit-policy', 'keep', '--json']);
      expect([edit.code, edit.json().error.code]).toEqual([1, code]);
      expect([readFileSync(config(), 'utf8'), statSync(config()).mtimeMs]).toEqual(before);
    } finally {
      await end();
    }
    expect((await sandbox.jackin(['config', 'exit-policy', 'keep'])).code).toBe(0);
    expect(readFileSync(config(), 'utf8')).toBe(MIGRATED.replace('"clean"', '"keep"'));
  });
});
