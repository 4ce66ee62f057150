import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { roleInvalid } from '@jackin/config';
import { fileSystemError } from '@jackin/core';
import type { RoleDirectory } from './role-directory.ts';
import { roleChanged } from './role-errors.ts';

/** One thing of the build context; `path` is relative, with `/`. */
export type ContextEntry = { path: string; mode: number; uid: number; gid: number } & (
  | { type: 'directory' }
  | { type: 'file'; size: number; digest: string }
  | { type: 'symlink'; target: string }
);

const MAX_ENTRIES = 50_000;
const MAX_BYTES = 1024 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

const UNSENDABLE: [kind: 'isSocket' | 'isFIFO' | 'isCharacterDevice' | 'isBlockDevice', name: string][] = [
  ['isSocket', 'a socket'],
  ['isFIFO', 'a FIFO'],
  ['isCharacterDevice', 'a device'],
  ['isBlockDevice', 'a device'],
];

/**
 * Everything of the role the builder gets, sorted by path. Links are carried as links and never followed; what
 * `.dockerignore` leaves out is not even opened.
 * @throws JackinError `ROLE_INVALID` for what cannot be sent or is too much, `ROLE_CHANGED`, `STATE_NOT_READABLE`
 */
export async function walkContext(role: RoleDirectory): Promise<ContextEntry[]> {
  const entries: ContextEntry[] = [];
  const pending = [''];
  let bytes = 0;
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const name of await namesIn(role, directory)) {
      const path = directory === '' ? name : `${directory}/${name}`;
      const { left_out: leftOut, pruned } = role.ignores(path);
      if (pruned) continue;
      const entry = await look(role, path, leftOut);
      if (entry === 'directory') pending.push(path);
      else if (entry !== null) {
        entries.push(entry);
        if (entry.type === 'directory') pending.push(path);
        if (entry.type === 'file') bytes += entry.size;
      }
      if (entries.length > MAX_ENTRIES) throw tooMuch(role, `more than ${MAX_ENTRIES} files`);
      if (bytes > MAX_BYTES) throw tooMuch(role, `more than ${MAX_BYTES / 1024 / 1024} MiB`);
    }
  }
  return entries.sort(byPath);
}

export const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);

/** The regular file at `path`, opened so that neither a link nor a FIFO in its place is. */
async function openContextFile(dir: string, path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = join(dir, path);
  try {
    return await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    throw fileSystemError(error, file, 'read');
  }
}

/** Reads exactly `size` bytes. @throws JackinError `ROLE_CHANGED` when the file has another size by now */
export async function* readContextFile(dir: string, path: string, size: number): AsyncGenerator<Buffer> {
  const file = await openContextFile(dir, path);
  try {
    let left = size;
    for (;;) {
      // One byte more than expected, so that a file that grew is noticed.
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left + 1)), {
        position: null,
      });
      if (bytesRead === 0 && left === 0) return;
      if (bytesRead === 0 || bytesRead > left) throw roleChanged(dir, `${path} has another size`);
      left -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function namesIn(role: RoleDirectory, directory: string): Promise<string[]> {
  const place = join(role.dir, directory);
  const raw = await readdir(place, { encoding: 'buffer' }).catch((error: unknown) => {
    throw fileSystemError(error, place, 'read');
  });
  return raw.map((name) => decode(name, place, 'the file name'));
}

/** An archive of ours holds text only; two names must not become one by what could not be decoded. */
function decode(bytes: Buffer, place: string, what: string): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw roleInvalid(
    place,
    { key: '', reason: `${what} ${JSON.stringify(text)} is not valid UTF-8` },
    'Give it another name.',
  );
}

/** What is left out is looked at only for whether it has to be entered. */
async function look(
  role: RoleDirectory,
  path: string,
  leftOut: boolean,
): Promise<ContextEntry | 'directory' | null> {
  const file = join(role.dir, path);
  const stats = await lstat(file).catch((error: unknown) => {
    throw fileSystemError(error, file, 'read');
  });
  if (leftOut) return stats.isDirectory() ? 'directory' : null;
  const common = { path, mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
  if (stats.isDirectory()) return { ...common, type: 'directory' };
  if (stats.isSymbolicLink()) {
    const target = decode(await readlink(file, { encoding: 'buffer' }), file, 'the link target');
    return { ...common, type: 'symlink', target };
  }
  if (stats.isFile()) {
    if (stats.size > MAX_BYTES) throw tooMuch(role, `more than ${MAX_BYTES / 1024 / 1024} MiB in ${path}`);
    const hash = createHash('sha256');
    for await (const chunk of readContextFile(role.dir, path, stats.size)) hash.update(chunk);
    return { ...common, type: 'file', size: stats.size, digest: hash.digest('hex') };
  }
  const kind = UNSENDABLE.find(([is]) => stats[is]())?.[1] ?? 'no file';
  throw roleInvalid(
    file,
    { key: '', reason: `is ${kind}, which cannot be part of an image` },
    'Remove it, or name it in .dockerignore.',
  );
}

function tooMuch(role: RoleDirectory, what: string) {
  return roleInvalid(
    role.dir,
    { key: '', reason: `holds ${what}, more than a role may send to the builder` },
    'Name what the image does not need in .dockerignore.',
  );
}
