import type { BigIntStats } from 'node:fs';
import { chmod, lstat, readdir, readFile, realpath, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { JackinError } from './errors.ts';
import { errorCode, fileSystemError, shellWord } from './file-errors.ts';

export interface RemoveTreeOptions {
  /** The only directory something may be removed from. */
  inside: string;
  /** Paths relative to the tree that go last, in this order, so that an interrupted removal can still be read. */
  last?: string[];
}

const FILES_AT_ONCE = 64;
type Keep = Map<string, Keep>;

/**
 * Removes a file or a directory tree. Links are removed, never followed; a tree that reaches outside `inside`,
 * or into which something is mounted, is refused before anything is removed. A missing `path` is success.
 * Names that are not UTF-8 and directories without write permission are handled.
 * @throws JackinError `PATH_OUTSIDE`, `TREE_HAS_MOUNT`, `TREE_IN_USE`, `STATE_NOT_WRITABLE`.
 */
export async function removeTree(path: string, options: RemoveTreeOptions): Promise<void> {
  const target = await confine(resolve(path), resolve(options.inside));
  const last = (options.last ?? []).map((entry) => partsOf(entry, path));
  if (target === null) return;
  try {
    const stats = await look(Buffer.from(target));
    if (stats === null) return;
    if (!stats.isDirectory()) return await unlink(target);
    await refuseMounts(target);
    const keep: Keep = new Map();
    for (const parts of last) parts.reduce((map, part) => childOf(map, part), keep);
    await emptyDirectory(Buffer.from(target), stats.dev, keep);
    for (const parts of last) await removeEntry(Buffer.from(join(target, ...parts)), stats.dev);
    await removeEntry(Buffer.from(target), stats.dev);
  } catch (error) {
    throw removalError(error, target);
  }
}

/** `path` with the links above it resolved, if it is strictly inside; null when it does not exist. */
async function confine(path: string, inside: string): Promise<string | null> {
  if (!isBelow(path, inside)) throw outside(path, inside);
  try {
    const realInside = await realpath(inside);
    const real = join(await realpath(dirname(path)), basename(path));
    if (!isBelow(real, realInside)) throw outside(path, inside);
    return real;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
    throw fileSystemError(error, path, 'remove');
  }
}

/** Removes everything in a directory but the kept entries and the directories that lead to them. */
async function emptyDirectory(directory: Buffer, device: bigint, keep: Keep): Promise<void> {
  const entries = await listOwn(directory);
  const files: Buffer[] = [];
  for (const entry of entries) {
    const child = Buffer.concat([directory, Buffer.from(sep), entry.name]);
    const below = keep.get(entry.name.toString());
    if (below !== undefined && below.size === 0) continue;
    if (!entry.isDirectory()) files.push(child);
    else if (below === undefined) await removeEntry(child, device);
    else {
      const stats = await look(child);
      if (stats?.isDirectory() === true) await emptyDirectory(child, sameDevice(stats, device, child), below);
    }
  }
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    await Promise.all(files.slice(at, at + FILES_AT_ONCE).map((file) => unlessGone(unlink(file))));
  }
}

async function removeEntry(path: Buffer, device: bigint): Promise<void> {
  const stats = await look(path);
  if (stats === null) return;
  if (!stats.isDirectory()) return unlessGone(unlink(path));
  await emptyDirectory(path, sameDevice(stats, device, path), new Map());
  await unlessGone(rmdir(path));
}

/** Some tools (module caches) leave directories without write permission; their owner may still empty them. */
async function listOwn(directory: Buffer) {
  const stats = await look(directory);
  if (stats !== null && (stats.mode & 0o700n) !== 0o700n) await chmod(directory, 0o700);
  return readdir(directory, { withFileTypes: true, encoding: 'buffer' });
}

async function look(path: Buffer): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
    throw error;
  }
}

async function unlessGone(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function sameDevice(stats: BigIntStats, device: bigint, path: Buffer): bigint {
  if (stats.dev !== device) throw hasMount(path.toString());
  return device;
}

/** A bind mount has the device number of its source, so only the mount table shows it. */
async function refuseMounts(target: string): Promise<void> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  for (const line of table.split('\n')) {
    const mountPoint = (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    if (mountPoint === target || isBelow(mountPoint, target)) throw hasMount(mountPoint);
  }
}

function partsOf(entry: string, path: string): string[] {
  const parts = entry.split('/').filter((part) => part !== '' && part !== '.');
  if (isAbsolute(entry) || parts.length === 0 || parts.includes('..')) throw outside(entry, path);
  return parts;
}

function childOf(map: Keep, part: string): Keep {
  const child = map.get(part) ?? new Map();
  map.set(part, child);
  return child;
}

function isBelow(path: string, directory: string): boolean {
  const prefix = directory.endsWith(sep) ? directory : directory + sep;
  return path.startsWith(prefix) && path.length > prefix.length;
}

function removalError(error: unknown, target: string): JackinError {
  const path = error instanceof Error && 'path' in error ? String(error.path) : target;
  if (!['ENOTEMPTY', 'EEXIST', 'EBUSY'].includes(errorCode(error) ?? '')) {
    return fileSystemError(error, path, 'remove');
  }
  return new JackinError({
    code: 'TREE_IN_USE',
    message: `Cannot remove ${path}: something still uses it or writes into it.`,
    hint: `Find the process with: lsof +D ${shellWord(target)}, end it, then run the command again.`,
    details: { path },
    cause: error,
  });
}

function outside(path: string, inside: string): JackinError {
  return new JackinError({
    code: 'PATH_OUTSIDE',
    message: `Refused to remove ${JSON.stringify(path)}: it is not inside ${JSON.stringify(inside)}.`,
    hint: `Look at it with: ls -ld ${shellWord(path)}`,
    details: { path, inside },
  });
}

function hasMount(path: string): JackinError {
  return new JackinError({
    code: 'TREE_HAS_MOUNT',
    message: `Refused to remove a tree that has another file system mounted at ${path}.`,
    hint: `Unmount it (umount ${shellWord(path)}), then run the command again.`,
    details: { path },
  });
}
