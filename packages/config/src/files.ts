import { realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  acquireLock,
  type EventSink,
  ensurePrivateDir,
  errorCode,
  fileSystemError,
  giveBack,
  JackinError,
  type JackinPaths,
  refuseDanglingLink,
  writeFileDurable,
} from '@jackin/core';

const LOCK_WAIT_MS = 5_000;

export interface EditOptions {
  events: EventSink;
  /** How long to wait for another editor; default 5 seconds. */
  waitMs?: number;
  /** Tell what would change, take no lock and write nothing. */
  dryRun?: boolean;
}

/**
 * Runs `work` while no other jackin changes the configuration (`config.lock` beside the files).
 * @param options.purpose what others read while they wait
 * @throws JackinError `LOCK_HELD` naming the holder, and what `work` throws
 */
export async function withConfigLock<T>(
  paths: Pick<JackinPaths, 'configDir' | 'locksDb'>,
  options: EditOptions & { purpose: string },
  work: () => Promise<T>,
): Promise<T> {
  const { events, purpose, waitMs = LOCK_WAIT_MS } = options;
  try {
    // Files are replaced whole, so a look without the lock sees the old ones or the new ones.
    if (options.dryRun === true) return await work();
    // The whole directory is often a link into a repository of dotfiles.
    const path = join(await realDirectory(paths.configDir), 'config.lock');
    const lock = await acquireLock(path, { purpose, locksDb: paths.locksDb, waitMs, events });
    try {
      return await work();
    } finally {
      await giveBack(lock, events);
    }
  } catch (error) {
    throw aboutConfiguration(error);
  }
}

/**
 * Replaces a file of the configuration durably. A link stays one, and what it leads to is written; mode and owner stay.
 * @throws JackinError `STATE_NOT_WRITABLE`, `DISK_FULL`; the old content is then untouched
 */
export async function writeConfigFile(file: string, text: string): Promise<void> {
  try {
    const target = await realpath(file).catch(missingIsNull);
    if (target === null) {
      await refuseDanglingLink(file);
      await ensurePrivateDir(await realDirectory(dirname(file)));
      await writeFileDurable(file, text);
      return;
    }
    const { mode, uid, gid } = await stat(target);
    // Only root can leave a file to its owner.
    const owner = process.getuid?.() === 0 && uid !== 0 ? { owner: { uid, gid } } : {};
    await writeFileDurable(target, text, { mode: mode & 0o7777, ...owner });
  } catch (error) {
    throw aboutConfiguration(fileSystemError(error, file, 'write'));
  }
}

async function realDirectory(directory: string): Promise<string> {
  const real = await realpath(directory).catch(missingIsNull);
  if (real === null) await refuseDanglingLink(directory);
  return real ?? directory;
}

function missingIsNull(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}

/** Errors of files speak of the state directory; these are about the configuration's. */
function aboutConfiguration(error: unknown): unknown {
  if (!(error instanceof JackinError) || error.hint === undefined || !error.hint.includes('JACKIN_HOME_DIR'))
    return error;
  const { code, message, details, exitCode } = error;
  const hint = error.hint.replaceAll('JACKIN_HOME_DIR', 'JACKIN_CONFIG_DIR');
  return new JackinError({ code, message, hint, details, exitCode, cause: error });
}
