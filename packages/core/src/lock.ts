import { dirname, resolve } from 'node:path';
import { systemClock } from './clock.ts';
import { JackinError } from './errors.ts';
import { shellWord } from './file-errors.ts';
import { ensurePrivateDir } from './files.ts';
import { releaseStuck } from './give-back.ts';
import { newNonce } from './ids.ts';
import { GUARD_WAIT_MS, withLockGuard } from './lock-guard.ts';
import { createLock, type Lock, type LockOptions } from './lock-handle.ts';
import { directoryOf, type JudgedLock, judgeLock, lookAtLock, ownRecord, sameLook } from './lock-owner.ts';
import { type LockWatch, watchLock } from './lock-watch.ts';
import type { Clock } from './ports.ts';

/** How late the death of an owner can be noticed while waiting; a release is noticed at once. */
const POLL_MS = 100;

/**
 * Takes the lock `path`, a file `X.lock` that stays and names its owner; what excludes is the directory
 * `X.lock.d` (docs/architecture.md). A dead owner's lock is taken over at once; a living one, however long it
 * sleeps, keeps it. Not re-entrant: a second acquisition in the same process waits like any other.
 * Events: `waiting` once before the first wait (with the path of the guard when that is what is waited for),
 * `taken_over`, `acquired`, `released`, `lost`.
 *
 * After it resolves, read again whether the thing it protects still exists.
 * @throws JackinError `LOCK_HELD` (owner in details), `LOCK_UNKNOWN_OWNER`, `LOCK_GUARD_BUSY`,
 * `LOCK_GUARD_BROKEN`, `STATE_NOT_WRITABLE`, `DISK_FULL`, `NOT_A_REGULAR_FILE`; or the signal's reason.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const target = resolve(path);
  const clock = options.clock ?? systemClock;
  const deadline = clock.monotonicMs() + options.waitMs;
  await ensurePrivateDir(dirname(resolve(options.locksDb)));
  await ensurePrivateDir(dirname(target));
  await releaseStuck(target);
  let watch: LockWatch | undefined;
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      const judged = await judgeLock(target);
      if (judged.state === 'free' || judged.state === 'dead') {
        const lock = await take(target, judged, { ...options, clock });
        if (lock !== null) return lock;
        continue;
      }
      const remainingMs = deadline - clock.monotonicMs();
      if (remainingMs <= 0) throw heldError(target, judged);
      if (watch === undefined) {
        options.events?.({
          type: 'lock',
          path: target,
          state: 'waiting',
          purpose: options.purpose,
          ...(judged.state === 'held' ? { owner: judged.owner } : {}),
        });
        // Look once more before waiting: the release may have come before the watch.
        watch = watchLock(target, clock);
        continue;
      }
      await watch.next(Math.min(POLL_MS, remainingMs), options.signal);
    }
  } finally {
    watch?.close();
  }
}

/** The critical section. Null when the lock is no longer what was judged. */
async function take(
  path: string,
  judged: JudgedLock,
  options: LockOptions & { clock: Clock },
): Promise<Lock | null> {
  const owner = await ownRecord(options.purpose, options.clock.now(), newNonce());
  const lock = createLock(path, owner, options);
  const onBusy = () => {
    const { locksDb, purpose } = options;
    options.events?.({ type: 'lock', path: resolve(locksDb), state: 'waiting', purpose });
  };
  const taken = await withLockGuard(
    options.locksDb,
    { ms: GUARD_WAIT_MS, clock: options.clock, signal: options.signal, onBusy },
    () => {
      const now = lookAtLock(path);
      const unchanged = judged.state === 'dead' ? sameLook(now, judged.look) : now.directory === null;
      if (unchanged) lock.seize();
      return unchanged;
    },
  );
  if (!taken) return null;
  const event = { type: 'lock', path, purpose: options.purpose } as const;
  if (judged.state === 'dead') options.events?.({ ...event, state: 'taken_over', owner: judged.owner });
  options.events?.({ ...event, state: 'acquired', owner });
  return lock.handle;
}

function heldError(path: string, judged: JudgedLock): JackinError {
  if (judged.state === 'held') {
    const { owner } = judged;
    return new JackinError({
      code: 'LOCK_HELD',
      message: `${path} is held by process ${owner.pid} (${owner.purpose}) since ${owner.since}.`,
      hint: `Wait until it is done and run the command again; see what it is with: ps -p ${owner.pid}`,
      details: { path, owner },
    });
  }
  const reason = judged.state === 'unknown' ? judged.reason : judged.state;
  return new JackinError({
    code: 'LOCK_UNKNOWN_OWNER',
    message: `${path} is taken and it cannot be told whether its owner still lives: ${reason}.`,
    hint: `When you are sure that no jackin uses it, free it with: rmdir ${shellWord(directoryOf(path))}`,
    details: { path, reason },
  });
}
