import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { snapshot } from './support/evidence.ts';
import { hasNotes, killInstance, writeNotes } from './support/instance.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';
import { createSmallDisk, halfWritten, type SmallDisk } from './support/small-disk.ts';

const MINUTES = 60_000;
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const onSmallDisk = isRoot ? test : () => undefined;

let sandbox: Sandbox;
let writable: () => void;

afterEach(async () => {
  writable?.();
  await sandbox.dispose();
});

/** Read-only for this user; for root that takes a file system. */
function protect(): void {
  if ('protect' in sandbox) {
    const disk = sandbox as SmallDisk;
    disk.protect();
    writable = disk.heal;
    return;
  }
  const paths = ['data', 'sockets', ''].map((name) => join(sandbox.state, name));
  for (const path of paths) chmodSync(path, 0o500);
  writable = () => {
    for (const path of paths.toReversed()) chmodSync(path, 0o700);
  };
}

describe('a state directory', () => {
  test(
    'that may only be read is listed with the truth all the same, and every command that would write says what to do',
    async () => {
      sandbox = isRoot ? createSmallDisk() : createSandbox();
      const running = await sandbox.loadShell(['sleep', '1000']);
      const lost = await sandbox.loadShell(['sleep', '1000']);
      const kept = await sandbox.loadShell(['sleep', '1000']);
      await sandbox.jackin(['stop', kept.id, '--keep']);
      protect();
      await killInstance(lost);
      const before = files();

      const { code, json } = await sandbox.jackin(['status', '--json']);
      const { instances, notices } = json().data;
      expect(code).toBe(0);
      expect(
        Object.fromEntries(instances.map((row: any) => [row.instance_id, [row.status, row.cause]])),
      ).toMatchObject({
        [running.id]: ['running', null],
        [lost.id]: ['crashed', 'capsule_crash'],
        [kept.id]: ['restore_available', 'jackin_stop'],
      });
      expect(notices.map((notice: any) => notice.code)).toEqual(['STATE_NOT_WRITABLE']);

      const load = ['load', 'shell', sandbox.project, '--new', '--detach', '--backend', 'standalone'];
      for (const args of [
        load,
        ['resume', kept.id, '--detach'],
        ['stop', running.id, '--clean'],
        ['stop', running.id, '--keep'],
        ['purge', kept.id, '--yes'],
        ['eject', running.id],
      ]) {
        const refused = await sandbox.jackin([...args, '--json']);
        const { error } = refused.json();
        expect([args[0], refused.code, error?.code]).toEqual([args[0], 1, 'STATE_NOT_WRITABLE']);
        expect(error.message).toContain(sandbox.state);
        expect(error.hint).toMatch(isRoot ? /^Make it writable \(findmnt -T \S+/ : /ls -ld \S+/);
      }
      expect(files()).toEqual(before);

      writable();
      const resumed = await sandbox.jackin(['resume', running.id, '--detach', '--json']);
      expect(resumed.json().data).toMatchObject({ tier: 0, did_not_return: [] });
    },
    2 * MINUTES,
  );

  onSmallDisk(
    'O58: on a full disk refuses one transition loudly and loses nothing; with some space freed it goes on',
    async () => {
      const disk = createSmallDisk();
      sandbox = disk;
      const instance = await disk.loadShell(['sleep', '1000']);
      writeNotes(disk, instance);
      disk.fill();
      const refused = await disk.jackin(['stop', instance.id, '--keep', '--json']);
      expect([refused.code, refused.json().error.code]).toEqual([1, 'DISK_FULL']);
      expect(refused.json().error).toMatchObject({
        message: expect.stringContaining(`${disk.state}/data/`),
        hint: expect.stringMatching(/^Free some space \(df -h \S+\)/),
      });
      expect(halfWritten(disk)).toEqual([]);
      expect(await listed()).toEqual([[instance.id, 'running']]);

      disk.heal();
      expect(await listed()).toEqual([[instance.id, 'running']]);
      const stopped = await disk.jackin(['stop', instance.id, '--keep', '--json']);
      expect(stopped.json().data).toMatchObject({ outcome: 'kept', status: 'restore_available' });
      const resumed = await disk.jackin(['resume', instance.id, '--detach', '--json']);
      expect(resumed.json().data).toMatchObject({ tier: 1, status: 'running' });
      expect(hasNotes(disk, instance)).toBe(true);
    },
    MINUTES,
  );

  test('can be given a disk of its own where CI runs: as root on Linux', () => {
    sandbox = createSandbox();
    const inCi = process.env.CI === 'true' && process.platform === 'linux';
    expect({ inCi, isRoot }).toEqual({ inCi, isRoot: inCi || isRoot });
  });
});

/** Without the log of a living session, which notes that it cannot write. */
function files(): string[] {
  return snapshot(sandbox.state).filter((entry) => !entry.includes('/capsule.log '));
}

async function listed(): Promise<[string, string][]> {
  const { code, json } = await sandbox.jackin(['status', '--json']);
  const { instances, corrupt } = json().data;
  expect([code, corrupt]).toEqual([0, []]);
  return instances.map((row: any) => [row.instance_id, row.status]);
}
