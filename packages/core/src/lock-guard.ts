import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { JackinError } from './errors.ts';
import { errorCode, fileSystemError, shellWord } from './file-errors.ts';
import type { Clock } from './ports.ts';

/** How long one waits for the guard; whoever is inside stays for milliseconds. */
export const GUARD_WAIT_MS = 10_000;
const BUSY_TIMEOUT_MS = 250;
const RETRY_MS = 25;
const SQLITE = { BUSY: 5, READONLY: 8, FULL: 13, CANTOPEN: 14, NOTADB: 26 };

/**
 * Runs `action` while this thread alone, on this machine, is inside the guard. `action` must be synchronous and
 * short: others wait for it. The kernel ends the guard when its process dies, so nothing has to be judged stale.
 * `wait.onBusy` is called once when somebody else has been inside for longer than that takes.
 * @throws JackinError `LOCK_GUARD_BUSY` after `waitMs`, `LOCK_GUARD_BROKEN`, `STATE_NOT_WRITABLE`, `DISK_FULL`.
 */
export async function withLockGuard<T>(
  locksDb: string,
  wait: { ms: number; clock: Clock; signal?: AbortSignal | undefined; onBusy?: () => void },
  action: () => T,
): Promise<T> {
  const deadline = wait.clock.monotonicMs() + wait.ms;
  createPrivately(locksDb);
  for (let attempt = 1; ; attempt += 1) {
    const entered = enter(locksDb, action);
    if (entered !== null) return entered.value;
    if (attempt === 1) wait.onBusy?.();
    if (wait.clock.monotonicMs() >= deadline) throw busy(locksDb);
    await wait.clock.sleep(RETRY_MS, wait.signal);
  }
}

function enter<T>(locksDb: string, action: () => T): { value: T } | null {
  const database = openDatabase(locksDb);
  try {
    try {
      // A journal on disk would need space, and there is nothing to write that could be undone.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      if (sqliteCode(error) === SQLITE.BUSY) return null;
      throw guardError(error, locksDb);
    }
    return { value: action() };
  } finally {
    // Closing rolls the (always empty) transaction back.
    database.close();
  }
}

function openDatabase(locksDb: string): DatabaseSync {
  try {
    return new DatabaseSync(locksDb, { timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw guardError(error, locksDb);
  }
}

/** SQLite would create it readable for others. An existing one is not opened: closing it would drop our locks. */
function createPrivately(locksDb: string): void {
  try {
    closeSync(openSync(locksDb, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw fileSystemError(error, locksDb, 'write');
  }
}

function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  // The low byte is the primary code, whatever extended code came with it.
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

function guardError(error: unknown, locksDb: string): JackinError {
  switch (sqliteCode(error)) {
    case SQLITE.FULL:
      return fileSystemError(Object.assign(new Error('full'), { code: 'ENOSPC' }), locksDb, 'write');
    case SQLITE.READONLY:
    case SQLITE.CANTOPEN:
      return fileSystemError(error, locksDb, 'write');
    case SQLITE.NOTADB:
      return new JackinError({
        code: 'LOCK_GUARD_BROKEN',
        message: `${locksDb} is not what jackin left there (${messageOf(error)}).`,
        hint: `It holds no data. When no other jackin runs, remove it: rm ${shellWord(locksDb)}`,
        details: { path: locksDb },
        cause: error,
      });
    default:
      return fileSystemError(error, locksDb, 'write');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function busy(locksDb: string): JackinError {
  return new JackinError({
    code: 'LOCK_GUARD_BUSY',
    message: `Another jackin has been in the middle of taking a lock for too long (${locksDb}).`,
    hint: `See which process holds it: lsof ${shellWord(locksDb)}`,
    details: { path: locksDb },
  });
}
