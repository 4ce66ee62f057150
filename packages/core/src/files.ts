import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lchown, lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { refuseDanglingLink } from './dangling-link.ts';
import { JackinError } from './errors.ts';
import { errorCode, fileSystemError, notARegularFile, shellWord } from './file-errors.ts';
import { pidAnswers } from './process-identity.ts';

export interface WriteOptions {
  /** Permission bits of the file; default 0600. */
  mode?: number;
  /** Who it is given to; default: the user of this process. */
  owner?: Owner;
}

/**
 * Replaces a file so that a reader, a kill or a power cut sees the old content or the new one, never a part:
 * temporary file in the same directory, fsync, rename, fsync of the directory (docs/architecture.md). A link at
 * `path` is replaced, not followed. Temporary files that killed processes left for the same target are removed.
 *
 * Ordering between two writers is the caller's business: hold the lock for a read-modify-write.
 * @throws JackinError `DISK_FULL`, `STATE_NOT_WRITABLE`; the old content is then untouched.
 */
export async function writeFileDurable(
  path: string,
  data: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const directory = dirname(resolve(path));
  const temporary = join(
    directory,
    `.${basename(path)}.${process.pid}.${randomBytes(4).toString('hex')}.jktmp`,
  );
  await sweepTemporaries(directory, basename(path));
  try {
    const file = await open(temporary, 'wx', options.mode ?? 0o600);
    try {
      await file.chmod(options.mode ?? 0o600);
      if (options.owner !== undefined) await file.chown(options.owner.uid, options.owner.gid);
      // FileHandle.writeFile continues after a short write, which is how a full disk first shows itself.
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDirectory(directory);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw fileSystemError(error, path, 'write');
  }
}

export interface ReadOptions {
  maxBytes: number;
  /** Follow a link at `path`; default false. Links in the directories above it are always followed. */
  follow?: boolean;
}

/**
 * The content of a regular file, or null when there is none. Never hangs on a FIFO and never reads more than
 * `maxBytes` + 1, whatever the file claims or becomes meanwhile.
 * @throws JackinError `FILE_TOO_LARGE`, `NOT_A_REGULAR_FILE`, `STATE_NOT_READABLE`.
 */
export async function readFileBounded(path: string, options: ReadOptions): Promise<Buffer | null> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, O_RDONLY | O_NONBLOCK | (options.follow === true ? 0 : O_NOFOLLOW));
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') {
      await refuseDanglingLink(options.follow === true ? path : dirname(path));
      return null;
    }
    if (code === 'ELOOP' || code === 'ENXIO') throw notARegularFile(path);
    throw fileSystemError(error, path, 'read');
  }
  try {
    if (!(await file.stat()).isFile()) throw notARegularFile(path);
    const chunks: Buffer[] = [];
    let total = 0;
    while (total <= options.maxBytes) {
      const chunk = Buffer.allocUnsafe(Math.min(65_536, options.maxBytes + 1 - total));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, bytesRead));
      total += bytesRead;
    }
    throw new JackinError({
      code: 'FILE_TOO_LARGE',
      message: `${path} is larger than the ${options.maxBytes} bytes it may have.`,
      hint: `Look at it with: head -c 300 ${shellWord(path)}`,
      details: { path, max_bytes: options.maxBytes },
    });
  } catch (error) {
    throw fileSystemError(error, path, 'read');
  } finally {
    await file.close();
  }
}

/** Who a file or directory belongs to. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Makes a directory (0700, parents too, durably) and makes sure it is only ours: not a link, owned by us, closed
 * to others. A looser mode of our own directory is tightened; a shared one like `/tmp` is refused.
 * @param owner it is given to this user instead, who may own it already (the user of a container)
 * @throws JackinError `STATE_DIR_NOT_PRIVATE`, `STATE_NOT_WRITABLE`, `DISK_FULL`.
 */
export async function ensurePrivateDir(path: string, owner?: Owner): Promise<void> {
  const target = resolve(path);
  try {
    await makeDirectory(target);
    const stats = await lstat(target);
    if (stats.isSymbolicLink()) throw notPrivate(target, 'it is a symbolic link');
    if (!stats.isDirectory()) throw notPrivate(target, 'it is not a directory');
    const uid = process.getuid?.();
    if (uid !== undefined && stats.uid !== uid && stats.uid !== owner?.uid) {
      throw notPrivate(target, `it belongs to user id ${stats.uid}, not to you (${uid})`);
    }
    if ((stats.mode & 0o1000) !== 0) throw notPrivate(target, 'it is shared between users (sticky bit)');
    if ((stats.mode & 0o077) !== 0) await chmod(target, 0o700);
    if (owner !== undefined && (stats.uid !== owner.uid || stats.gid !== owner.gid)) {
      await lchown(target, owner.uid, owner.gid);
    }
  } catch (error) {
    throw fileSystemError(error, target, 'create');
  }
}

/** Makes the entries of a directory survive a power cut. Silent where a file system has no such call. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOSYS', 'ENOTSUP', 'EBADF'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/** Not `mkdir -p` of the library, which says "no such file" on a read-only file system and syncs nothing. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if ((await lstat(path).catch(() => null)) !== null) return;
    if (errorCode(error) !== 'ENOENT' || path === dirname(path)) throw error;
    await refuseDanglingLink(dirname(path));
    await makeDirectory(dirname(path));
    // Once more and not for ever: some parents are there and take no directory.
    await mkdir(path, { mode: 0o700 }).catch(async (again: unknown) => {
      if ((await lstat(path).catch(() => null)) === null) throw again;
    });
  }
  await syncDirectory(dirname(path));
}

/** Our own name pattern with the pid of a process that is gone: nobody else can still be writing it. */
async function sweepTemporaries(directory: string, base: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(`.${base}.`)) continue;
    const match = /^(\d+)\.[0-9a-f]{8}\.jktmp$/.exec(name.slice(base.length + 2));
    if (match !== null && !pidAnswers(Number(match[1]))) await unlink(join(directory, name)).catch(() => {});
  }
}

function notPrivate(path: string, reason: string): JackinError {
  return new JackinError({
    code: 'STATE_DIR_NOT_PRIVATE',
    message: `${path} cannot hold jackin's state: ${reason}.`,
    hint: `Put a real directory of your own there (ls -ld ${shellWord(path)}); if all state is to lie elsewhere, set JACKIN_HOME_DIR.`,
    details: { path },
  });
}
