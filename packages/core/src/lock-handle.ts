import { mkdirSync, realpathSync, rmdirSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import properLockfile from 'proper-lockfile';
import { JackinError } from './errors.ts';
import { errorCode, fileSystemError } from './file-errors.ts';
import { GUARD_WAIT_MS, withLockGuard } from './lock-guard.ts';
import { directoryOf, lookAtLock, type OwnerRecord, writeOwner } from './lock-owner.ts';
import type { Clock, EventSink } from './ports.ts';

export interface LockOptions {
  /** What it is held for, as one reads it in "held by …": `resume k7p9m2xq`. */
  purpose: string;
  /** The guard of all take-overs, `data/locks.db`. */
  locksDb: string;
  /** How long to wait for a living or unknown owner; 0 = not at all. */
  waitMs: number;
  signal?: AbortSignal;
  events?: EventSink;
  clock?: Clock;
}

export interface Lock extends AsyncDisposable {
  readonly path: string;
  /** True from the moment the lock is known not to be ours any more, though it was not released. */
  readonly lost: boolean;
  /** Looks at the disk. @throws JackinError `LOCK_LOST` unless the lock is provably still held. */
  assertHeld(): void;
  /** May be called again and concurrently. `remove` deletes the lock file too, for something that is gone. */
  release(options?: { remove?: boolean }): Promise<void>;
}

/** Time never hands a lock over: far beyond any sleep, but short of the overflow of 32-bit timers. */
const STALE_MS = 7 * 24 * 3_600_000;
const REFRESH_MS = 5_000;

/**
 * A lock about to be taken: `seize` takes it on disk and must run inside the guard, with the lock found free or its
 * owner dead; `handle` is what the holder gets.
 */
export function createLock(path: string, owner: OwnerRecord, options: LockOptions & { clock: Clock }) {
  const record = `${JSON.stringify(owner)}\n`;
  let lost = false;
  let stopRefreshing = () => {};
  let released: Promise<void> | undefined;

  const isOurs = () => {
    const look = lookAtLock(path);
    return look.directory !== null && look.owner === record;
  };
  const emit = (state: 'released' | 'lost') =>
    options.events?.({ type: 'lock', path, state, purpose: options.purpose, owner });
  const markLost = () => {
    if (!lost && released === undefined) emit('lost');
    lost = true;
  };

  /** Owner first, directory second: a directory without its owner would block everyone. */
  const seize = () => {
    const isNew = lookAtLock(path).owner === null;
    try {
      ignoring('ENOENT', () => rmdirSync(directoryOf(path)));
      writeOwner(path, record);
      const release = properLockfile.lockSync(path, {
        lockfilePath: directoryOf(path),
        realpath: false,
        stale: STALE_MS,
        update: REFRESH_MS,
        fs: fileSystemFor(isOurs),
        onCompromised: markLost,
      });
      stopRefreshing = () => ignoring('ERELEASED', release);
    } catch (error) {
      // Of a lock that never was, nothing stays; we are inside the guard, so nobody else can hold it.
      if (isNew) removeQuietly(path);
      throw fileSystemError(error, path, 'lock');
    }
  };

  const assertHeld = () => {
    if (released === undefined && !lost && !provablyOurs(isOurs)) markLost();
    if (released !== undefined || lost) throw lostError(path, options.purpose);
  };

  const giveUp = async (remove: boolean) => {
    if (!lost && !provablyOurs(isOurs)) markLost();
    // What is not ours any more stays as it is; its refreshing ends by itself, see fileSystemFor.
    if (lost) return;
    const leave = () => {
      stopRefreshing();
      if (isOurs()) rmdirSync(directoryOf(path));
      if (remove) ignoring('ENOENT', () => unlinkSync(path));
    };
    try {
      if (!remove) return leave();
      await withLockGuard(options.locksDb, { ms: GUARD_WAIT_MS, clock: options.clock }, leave);
    } catch (error) {
      throw fileSystemError(error, path, 'release the lock');
    }
  };

  const release = (how: { remove?: boolean } = {}) => {
    released ??= giveUp(how.remove === true).then(
      () => {
        if (!lost) emit('released');
      },
      (error: unknown) => {
        // Still held: the caller may try again.
        released = undefined;
        throw error;
      },
    );
    return released;
  };

  const handle: Lock = {
    path,
    get lost() {
      return lost;
    },
    assertHeld,
    release,
    [Symbol.asyncDispose]: () => release(),
  };
  return { handle, seize };
}

/**
 * What proper-lockfile sees. It tells its locks apart by path and times only, so a lock that was lost and taken
 * again within one process could be refreshed or removed by its former holder; here it looks gone to that one.
 */
function fileSystemFor(isOurs: () => boolean) {
  const onlyOurs =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      if (!isOurs()) throw Object.assign(new Error('the lock is not ours'), { code: 'ENOENT' });
      return call(...args);
    };
  return {
    mkdirSync,
    realpathSync,
    statSync: onlyOurs(statSync as (path: string) => unknown),
    utimesSync: onlyOurs(utimesSync),
    rmdirSync: onlyOurs(rmdirSync as (path: string) => void),
  };
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The failure that led here is the one to tell.
  }
}

/** Not being able to look is not holding. */
function provablyOurs(isOurs: () => boolean): boolean {
  try {
    return isOurs();
  } catch {
    return false;
  }
}

function ignoring(code: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (errorCode(error) !== code) throw error;
  }
}

function lostError(path: string, purpose: string): JackinError {
  return new JackinError({
    code: 'LOCK_LOST',
    message: `The lock ${path} (${purpose}) is no longer held, so the work under it was stopped.`,
    hint: 'Nothing more was changed. Run the command again.',
    details: { path, purpose },
  });
}
