import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  acquireLock,
  createJournal,
  describeFileSystem,
  ensurePrivateDir,
  giveBack,
  inspectLock,
  type JackinEvent,
  removeTree,
  writeFileDurable,
} from '../src/index.ts';
import { CAN_MOUNT, failureOf, mountTmpfs, onCleanup, scratchDir } from './helpers.ts';

const lockIn = (data: string) =>
  acquireLock(join(data, 'jk-1.lock'), { purpose: 'test', locksDb: join(data, 'locks.db'), waitMs: 0 });

/** Writes until the disk is full, then gives back so much that a write can begin but not end. */
function fill(directory: string, leaveBytes = 0): string {
  const ballast = join(directory, 'ballast');
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k'], { stdio: 'ignore' });
  } catch {
    // "No space left on device" is how it ends.
  }
  if (leaveBytes > 0) execFileSync('truncate', ['-s', `-${leaveBytes}`, ballast]);
  return ballast;
}

function onFullDisk() {
  test('O58: a write that does not fit leaves the old content, no parts, and an error with file and fix', async () => {
    const { path } = mountTmpfs(256);
    const file = join(path, 'instance.json');
    await writeFileDurable(file, 'old');
    // Room for the first part of the new content: a short write, which must not be taken for success.
    const ballast = fill(path, 16_384);
    const error = await failureOf(writeFileDurable(file, 'n'.repeat(60_000)));
    expect(error.code).toBe('DISK_FULL');
    expect(error.message).toContain(file);
    expect(error.hint).toContain(`df -h ${path}`);
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(path).sort()).toEqual(['ballast', 'instance.json']);
    rmSync(ballast);
    await writeFileDurable(file, 'n'.repeat(60_000));
    expect(readFileSync(file, 'utf8')).toHaveLength(60_000);
  });

  test('a lock that cannot be written is not taken, and can be once there is room', async () => {
    const { path } = mountTmpfs(64);
    const ballast = fill(path);
    const error = await failureOf(lockIn(path));
    expect(error).toMatchObject({ code: 'DISK_FULL', message: expect.stringContaining(path) });
    expect(await inspectLock(join(path, 'jk-1.lock'))).toEqual({ state: 'free' });
    expect(readdirSync(path).sort()).toEqual(['ballast', 'locks.db']);
    rmSync(ballast);
    await (await lockIn(path)).release({ remove: true });
  });

  test('a lock that is held can be given back and its file removed, because that needs no room', async () => {
    const { path } = mountTmpfs(64);
    const lock = await lockIn(path);
    fill(path);
    await lock.release({ remove: true });
    expect(readdirSync(path).sort()).toEqual(['ballast', 'locks.db']);
  });

  test('a tmpfs is recognised as lost at the next reboot', async () => {
    const { path } = mountTmpfs(64);
    expect(await describeFileSystem(join(path, 'data'))).toMatchObject({
      path,
      kind: 'tmpfs',
      persistent: 'no',
    });
  });
}

function onReadOnlyFileSystem() {
  test('each kind of write fails by name and changes nothing', async () => {
    const { path, remount } = mountTmpfs(256);
    const file = join(path, 'instance.json');
    await writeFileDurable(file, 'old');
    mkdirSync(join(path, 'tree'));
    remount('ro');
    const writes: [string, () => Promise<unknown>][] = [
      [file, () => writeFileDurable(file, 'new')],
      [join(path, 'new'), () => ensurePrivateDir(join(path, 'new'))],
      [join(path, 'locks.db'), () => lockIn(path)],
      [join(path, 'tree'), () => removeTree(join(path, 'tree'), { inside: path })],
      [join(path, 'log'), async () => createJournal(join(path, 'log'))],
    ];
    for (const [named, write] of writes) {
      const error = await failureOf(write());
      expect(error.code).toBe('STATE_NOT_WRITABLE');
      expect(error.message).toContain(named);
      expect(error.message).toContain('read-only');
      expect(error.hint).toContain('JACKIN_HOME_DIR');
    }
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(path).sort()).toEqual(['instance.json', 'tree']);
  });

  test('a lock that cannot be given back is told, and hides nothing of the work under it', async () => {
    const { path, remount } = mountTmpfs(256);
    const lock = await lockIn(path);
    remount('ro');
    const told: JackinEvent[] = [];
    await giveBack(lock, (event) => told.push(event));
    expect(told).toMatchObject([
      {
        type: 'notice',
        code: 'STATE_NOT_WRITABLE',
        message: expect.stringContaining(join(path, 'jk-1.lock')),
      },
    ]);
    expect(await inspectLock(join(path, 'jk-1.lock'))).toMatchObject({ state: 'held' });
    // Whoever asks for it in this process is told what is wrong, and has it as soon as it can be given back.
    const error = await failureOf(lockIn(path));
    expect(error).toMatchObject({
      code: 'STATE_NOT_WRITABLE',
      message: expect.stringContaining('jk-1.lock'),
    });
    remount('rw');
    await (await lockIn(path)).release();
    expect(told).toHaveLength(1);
  });

  test('a lock held before can be inspected, is still held, and is released once that is possible', async () => {
    const { path, remount } = mountTmpfs(256);
    const lock = await lockIn(path);
    remount('ro');
    expect(await inspectLock(lock.path)).toMatchObject({ state: 'held' });
    lock.assertHeld();
    expect((await failureOf(lock.release())).code).toBe('STATE_NOT_WRITABLE');
    remount('rw');
    await lock.release();
    expect(existsSync(`${lock.path}.d`)).toBe(false);
    remount('ro');
    const error = await failureOf(lockIn(path));
    expect(error.code).toBe('STATE_NOT_WRITABLE');
    expect(error.message).toContain(path);
  });
}

function withoutWritePermission() {
  test('each kind of write fails by name and changes nothing', async () => {
    const path = scratchDir();
    const file = join(path, 'instance.json');
    writeFileSync(file, 'old');
    chmodSync(path, 0o500);
    onCleanup(() => chmodSync(path, 0o700));
    for (const write of [
      () => writeFileDurable(file, 'new'),
      () => ensurePrivateDir(join(path, 'new')),
      () => lockIn(path),
      async () => createJournal(join(path, 'log')),
    ]) {
      const error = await failureOf(write());
      expect(error.code).toBe('STATE_NOT_WRITABLE');
      expect(error.message).toContain(path);
    }
    expect(readFileSync(file, 'utf8')).toBe('old');
  });
}

if (CAN_MOUNT) {
  describe('on a full disk', onFullDisk);
  describe('on a read-only file system', onReadOnlyFileSystem);
} else {
  describe('without write permission', withoutWritePermission);
  test('the full-disk and read-only suites run in CI on Linux, which needs root', () => {
    expect(process.platform === 'linux' && process.env.CI === 'true').toBe(false);
  });
}
