import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { sep } from 'node:path';
import { errorCode } from '@jackin/core';
import { Doubt } from './doubt.ts';
import { printable } from './names.ts';

/** A path as text, or as bytes where it is not. */
export type AnyPath = string | Buffer;

export interface ReadFile {
  bytes: Buffer;
  /** Whole seconds. */
  mtimeS: number;
  mtimeMs: number;
}

/**
 * A regular file, or null when there is none. Never follows a link at the path, waits for a FIFO or reads more than
 * `maxBytes`. Synchronous: thousands of refs of some bytes each are read several times faster this way.
 * @throws Doubt for anything else that is there
 */
export function readRegular(path: AnyPath, maxBytes: number): ReadFile | null {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'ENXIO') throw new Doubt(`${printable(path)} is not a regular file`);
    throw new Doubt(`${printable(path)} cannot be read (${code})`);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Doubt(`${printable(path)} is not a regular file`);
    if (stats.size > maxBytes) throw new Doubt(`${printable(path)} is larger than ${maxBytes} bytes`);
    const bytes = Buffer.allocUnsafe(stats.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return {
      bytes: bytes.subarray(0, length),
      mtimeS: Math.floor(stats.mtimeMs / 1_000),
      mtimeMs: stats.mtimeMs,
    };
  } catch (error) {
    if (error instanceof Doubt) throw error;
    throw new Doubt(`${printable(path)} cannot be read (${errorCode(error)})`);
  } finally {
    closeSync(file);
  }
}

/**
 * The same for a file some directories below one that is known to be real: none of those may be a link.
 * @throws Doubt
 */
export function readBelow(root: string, name: string, maxBytes: number): ReadFile | null {
  const parts = name.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const directory = below(root, parts.slice(0, depth).join('/'));
    const stats = look(directory);
    if (stats === null) return null;
    if (!stats.isDirectory()) throw new Doubt(`${printable(directory)} is not a directory of its own`);
  }
  return readRegular(below(root, name), maxBytes);
}

/** What is at a path, not following it; null when nothing is. @throws Doubt where nobody may look */
export function look(path: AnyPath): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Doubt(`${printable(path)} cannot be looked at (${code})`);
  }
}

/** Whether there is a directory that is not a link. */
export function isRealDirectory(path: AnyPath): boolean {
  return look(path)?.isDirectory() === true;
}

/**
 * The entries of a real directory, names as latin1 (one character per byte), or null when there is none.
 * @throws Doubt for a link or anything else that is no directory, or one nobody may read
 */
export function list(path: AnyPath): Dirent[] | null {
  const stats = look(path);
  if (stats === null) return null;
  if (!stats.isDirectory()) throw new Doubt(`${printable(path)} is not a directory`);
  return entriesOf(path);
}

/** The same where it is known to be a real directory, and one that is gone meanwhile is a doubt. */
export function entriesOf(path: AnyPath): Dirent[] {
  try {
    // Types of Node name no encoding but utf8 and buffer here.
    return readdirSync(path, { encoding: 'latin1', withFileTypes: true });
  } catch (error) {
    throw new Doubt(`${printable(path)} cannot be read (${errorCode(error)})`);
  }
}

/** The canonical path, or null when there is nothing. */
export function canonical(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw new Doubt(`${printable(path)} cannot be looked at (${code})`);
  }
}

/** `path` is `root` or below it; both canonical. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A name of bytes (latin1) below a directory. */
export function below(root: AnyPath, name: string): AnyPath {
  if (typeof root === 'string' && /^[ -~]*$/.test(name)) return `${root}/${name}`;
  const head = typeof root === 'string' ? Buffer.from(`${root}/`) : Buffer.concat([root, Buffer.from('/')]);
  return Buffer.concat([head, Buffer.from(name, 'latin1')]);
}
