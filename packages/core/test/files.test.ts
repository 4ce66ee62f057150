import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  describeFileSystem,
  ensurePrivateDir,
  fileSystemError,
  readFileBounded,
  writeFileDurable,
} from '../src/index.ts';
import { CAN_MOUNT, failureOf, onCleanup, scratchDir, startFixture } from './helpers.ts';

describe('writeFileDurable', () => {
  test('a file is written whole with mode 0600, replaced whole, and leaves nothing beside it', async () => {
    const directory = scratchDir();
    const file = join(directory, 'state.json');
    await writeFileDurable(file, 'first');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await writeFileDurable(file, Buffer.from([0, 255, 10]), { mode: 0o640 });
    expect(readFileSync(file)).toEqual(Buffer.from([0, 255, 10]));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(directory)).toEqual(['state.json']);
  });

  test('a link in place of the file is replaced, and what it points to stays as it was', async () => {
    const directory = scratchDir();
    const victim = join(directory, 'victim');
    writeFileSync(victim, 'precious');
    const file = join(directory, 'state.json');
    symlinkSync(victim, file);
    await writeFileDurable(file, 'ours');
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(lstatSync(file).isFile()).toBe(true);
  });

  test('writers of one process do not disturb each other', async () => {
    const file = join(scratchDir(), 'state.json');
    const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(5_000));
    await Promise.all(contents.map((content) => writeFileDurable(file, content)));
    expect(contents).toContain(readFileSync(file, 'utf8'));
    expect(readdirSync(join(file, '..'))).toEqual(['state.json']);
  });

  test('a missing directory is an error that names the file', async () => {
    const file = join(scratchDir(), 'nowhere', 'state.json');
    const error = await failureOf(writeFileDurable(file, 'x'));
    expect(error).toMatchObject({ code: 'STATE_NOT_WRITABLE', message: expect.stringContaining(file) });
  });

  test('O57: SIGKILL in a save loop, twenty times, leaves the old or the new content and never a part', async () => {
    const size = 300_000;
    const directory = scratchDir();
    const file = join(directory, 'instances.json');
    let leftBehind = 0;
    for (let round = 0; round < 20; round += 1) {
      const saver = await startFixture('save-loop.ts', [file, String(size)]);
      for (let saved = 0; saved < 3 + (round % 4); saved += 1) await saver.next();
      await saver.kill('SIGKILL');
      const content = readFileSync(file, 'utf8');
      expect(content).toHaveLength(size);
      expect(content === 'a'.repeat(size) || content === 'b'.repeat(size)).toBe(true);
      leftBehind += readdirSync(directory).length - 1;
      await writeFileDurable(file, content);
      expect(readdirSync(directory)).toEqual(['instances.json']);
    }
    // Otherwise no kill ever hit a save, and the test proved nothing.
    expect(leftBehind).toBeGreaterThan(0);
  }, 90_000);

  test("another file's temporary and a living writer's temporary are left alone", async () => {
    const directory = scratchDir();
    const dead = spawnSync('true').pid;
    const kept = [
      `.other.json.${dead}.0123abcd.jktmp`,
      `.state.json.${process.ppid}.0123abcd.jktmp`,
      '.state.json.bak',
      'state.json.20240101',
    ];
    for (const name of [...kept, `.state.json.${dead}.0123abcd.jktmp`])
      writeFileSync(join(directory, name), '');
    await writeFileDurable(join(directory, 'state.json'), 'x');
    expect(readdirSync(directory).sort()).toEqual([...kept, 'state.json'].sort());
  });
});

describe('readFileBounded', () => {
  test('a missing file is null, an empty one is empty, a full one is whole up to the limit', async () => {
    const file = join(scratchDir(), 'f');
    expect(await readFileBounded(file, { maxBytes: 10 })).toBeNull();
    writeFileSync(file, '');
    expect(await readFileBounded(file, { maxBytes: 10 })).toEqual(Buffer.alloc(0));
    writeFileSync(file, '0123456789');
    expect(String(await readFileBounded(file, { maxBytes: 10 }))).toBe('0123456789');
  });

  test('one byte too many is refused with the file and the limit named', async () => {
    const file = join(scratchDir(), 'f');
    writeFileSync(file, '01234567890');
    const error = await failureOf(readFileBounded(file, { maxBytes: 10 }));
    expect(error.code).toBe('FILE_TOO_LARGE');
    expect(error.message).toContain(file);
    expect(error.details).toEqual({ path: file, max_bytes: 10 });
  });

  test('a sparse file of a terabyte costs nothing', async () => {
    const file = join(scratchDir(), 'huge');
    writeFileSync(file, '');
    truncateSync(file, 2 ** 40);
    expect((await failureOf(readFileBounded(file, { maxBytes: 1_000 }))).code).toBe('FILE_TOO_LARGE');
  });

  test('a link is refused unless following it was asked for', async () => {
    const directory = scratchDir();
    writeFileSync(join(directory, 'real'), 'content');
    const link = join(directory, 'link');
    symlinkSync('real', link);
    expect((await failureOf(readFileBounded(link, { maxBytes: 10 }))).code).toBe('NOT_A_REGULAR_FILE');
    expect(String(await readFileBounded(link, { maxBytes: 10, follow: true }))).toBe('content');
  });

  test('a directory, a FIFO and a socket are refused at once instead of read', async () => {
    const directory = scratchDir();
    const fifo = join(directory, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const socket = join(directory, 'socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    onCleanup(() => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const path of [directory, fifo, socket]) {
      expect((await failureOf(readFileBounded(path, { maxBytes: 10 }))).code).toBe('NOT_A_REGULAR_FILE');
    }
  });
});

describe('ensurePrivateDir', () => {
  test('missing parents are made too, all with mode 0700, and asking again changes nothing', async () => {
    const root = scratchDir();
    await ensurePrivateDir(join(root, 'a', 'b', 'c'));
    await ensurePrivateDir(join(root, 'a', 'b', 'c'));
    for (const path of ['a', 'a/b', 'a/b/c']) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
  });

  test('our own directory that others could enter is closed to them', async () => {
    const path = join(scratchDir(), 'open');
    mkdirSync(path, { mode: 0o755 });
    chmodSync(path, 0o755);
    await ensurePrivateDir(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test('a link, a file and a directory shared by all users are refused by name', async () => {
    const root = scratchDir();
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    writeFileSync(join(root, 'file'), '');
    mkdirSync(join(root, 'shared'));
    chmodSync(join(root, 'shared'), 0o1777);
    for (const name of ['link', 'file', 'shared']) {
      const error = await failureOf(ensurePrivateDir(join(root, name)));
      expect(error).toMatchObject({ code: 'STATE_DIR_NOT_PRIVATE', message: expect.stringContaining(name) });
    }
    expect(statSync(join(root, 'shared')).mode & 0o7777).toBe(0o1777);
  });

  test('a directory of another user is refused and keeps its mode', async () => {
    const foreign = CAN_MOUNT ? join(scratchDir(), 'foreign') : '/';
    if (CAN_MOUNT) {
      mkdirSync(foreign, { mode: 0o755 });
      chownSync(foreign, 12_345, 12_345);
    }
    const error = await failureOf(ensurePrivateDir(foreign));
    expect(error.code).toBe('STATE_DIR_NOT_PRIVATE');
    expect(statSync(foreign).mode & 0o777).toBe(0o755);
  });
});

describe('fileSystemError', () => {
  test.each([
    ['ENOSPC', 'write', 'DISK_FULL', 'df -h /s'],
    ['EDQUOT', 'write', 'DISK_FULL', 'df -h /s'],
    ['EROFS', 'write', 'STATE_NOT_WRITABLE', 'read-only|JACKIN_HOME_DIR'],
    ['EACCES', 'write', 'STATE_NOT_WRITABLE', 'ls -ld /s /s/file'],
    ['EPERM', 'remove', 'STATE_NOT_WRITABLE', 'ls -ld'],
    ['EACCES', 'read', 'STATE_NOT_READABLE', 'ls -ld'],
    ['EIO', 'read', 'STATE_NOT_READABLE', 'ls -ld'],
    ['EIO', 'write', 'STATE_NOT_WRITABLE', 'ls -ld'],
  ])('%s while trying to %s becomes %s and names file and fix', (errno, action, code, fix) => {
    const cause = Object.assign(new Error('boom'), { code: errno });
    const error = fileSystemError(cause, '/s/file', action);
    expect(error).toMatchObject({ code, cause, exitCode: 1, details: { path: '/s/file', errno } });
    expect(error.message).toContain(`Cannot ${action} /s/file`);
    expect(error.hint).toMatch(new RegExp(fix));
  });

  test('a path with spaces and quotes can be pasted from the hint into a shell', () => {
    const path = "/tmp/it's here/file";
    const hint = fileSystemError(Object.assign(new Error(), { code: 'EACCES' }), path, 'read').hint ?? '';
    const pasted = execFileSync('sh', ['-c', `printf '%s\\n' ${hint.slice(hint.indexOf('ls -ld') + 6)}`]);
    expect(String(pasted)).toBe("/tmp/it's here\n/tmp/it's here/file\n");
  });

  test('an error that already speaks to the operator passes through', () => {
    const own = fileSystemError(Object.assign(new Error(), { code: 'ENOSPC' }), '/a', 'write');
    expect(fileSystemError(own, '/b', 'read')).toBe(own);
  });
});

describe('describeFileSystem', () => {
  test('O86: a directory under /tmp is not persistent, and a missing path is judged by where it will be', async () => {
    const facts = await describeFileSystem(join(tmpdir(), 'not', 'yet', 'there'));
    expect(facts.persistent).toBe('no');
    expect(facts.path).toBe(tmpdir());
    expect(facts.free_bytes).toBeGreaterThan(0);
    expect(facts.total_bytes).toBeGreaterThanOrEqual(facts.free_bytes);
  });

  test('the root directory has a size and a known kind or a number', async () => {
    const facts = await describeFileSystem('/');
    expect(facts.path).toBe('/');
    expect(facts.kind).toMatch(/^([a-z0-9]+|0x[0-9a-f]+)$/);
    expect(facts.persistent).not.toBe('no');
  });
});
