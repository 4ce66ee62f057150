import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';

/**
 * Loaded into a command before its own code (`--import`, without types: a command must start fast). It changes nothing the command does; it only chooses the
 * moment: right before the command's write number `at` below `under` the disk is filled to its last byte, or the
 * directory is mounted read-only. Every write that counts is told in `log`.
 */
export interface DiskFault {
  under: string;
  /** 1: the first write fails. */
  at: number;
  kind: 'full' | 'readonly';
  log: string;
}

/** One line of `log`. */
export interface CountedWrite {
  write: number;
  call: string;
  /** Below `under`. */
  path: string;
}

export const FAULT_VARIABLE = 'JACKIN_TEST_DISK_FAULT';
/** What takes up the space, directly below `under`. */
export const FILLER = 'filler';
const PAGE_BYTES = 4_096;

const { existsSync, openSync, writeSync, closeSync, appendFileSync } = fs;
const text = process.env[FAULT_VARIABLE];
if (text !== undefined) install(JSON.parse(text));

function install(fault: DiskFault): void {
  const { under, kind } = fault;
  const { O_WRONLY, O_RDWR, O_CREAT } = fs.constants;
  const before = counter(fault);
  const opens = (path: string, flags: unknown): boolean => {
    if (flags === 'wx' && existsSync(path)) return false;
    return typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) !== 0 : (flags ?? 'r') !== 'r';
  };
  // What is there already is not made, what is gone is not removed: nothing is written then.
  const makes = (path: string): boolean => !existsSync(path);
  const takes = (path: string): boolean => existsSync(path);
  const isLock = (path: string): boolean => path.endsWith('.lock.d');

  // A full disk refuses what needs space. On a read-only one the first of several calls that make one change does not
  // matter: what was written beside a file counts when it is renamed.
  if (kind === 'full') watch('open', opens);
  else {
    watch('rename', () => true);
    watch('mkdir', (path) => makes(path) && !isLock(path));
    watch('unlink', takes);
    watch('rmdir', (path) => takes(path) && !isLock(path));
  }
  syncBuiltinESMExports();

  function watch(call: 'open' | 'rename' | 'mkdir' | 'unlink' | 'rmdir', counts: Counts): void {
    for (const [holder, name] of [
      [fs.promises, call],
      [fs, `${call}Sync`],
    ] as [any, string][]) {
      const real = holder[name];
      holder[name] = function watched(this: unknown, path: unknown, ...rest: unknown[]) {
        const target = String(path);
        if (target.startsWith(under + sep) && counts(target, rest[0])) before(name, target);
        return real.call(this, path, ...rest);
      };
    }
  }
}

type Counts = (path: string, second: unknown) => boolean;

/** Told of every write before it happens; from number `at` on there is no room for it. */
function counter({ under, at, kind, log }: DiskFault): (call: string, path: string) => void {
  let writes = 0;
  return (call, path) => {
    writes += 1;
    const line: CountedWrite = { write: writes, call, path: path.slice(under.length + 1) };
    appendFileSync(log, `${JSON.stringify(line)}\n`);
    if (kind === 'readonly') {
      if (writes === at) mountReadOnly(under);
    } else if (writes >= at) fill(`${under}${sep}${FILLER}`);
  };
}

/** Byte by byte at the end: not even the shortest file fits then. What a session freed meanwhile is taken again. */
export function fill(path: string): void {
  const file = openSync(path, 'a');
  for (let size = 64 * PAGE_BYTES; size >= 1; ) {
    try {
      if (writeSync(file, Buffer.alloc(size)) === size) continue;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
    size = Math.floor(size / 8);
  }
  closeSync(file);
}

/** A session keeps its log open for writing, so the file system itself cannot be remounted: its only way in is. */
export function mountReadOnly(under: string): void {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  for (const args of [
    ['--bind', under, under],
    ['-o', 'remount,bind,ro', under],
  ]) {
    const { status, stderr } = spawnSync('mount', args);
    if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
  }
}
