import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, inspectLock, toJackinError } from '@jackin/core';
import type { World } from './world.ts';

const HELD_SUFFIX = '.lock.d';

/**
 * Takes away the locks that killed processes left behind for nothing: of a launch that had made no instance yet, of an
 * instance that is gone, of a target. What somebody holds, what belongs to an instance, and a lock file that was never
 * one of these stays. Never throws: it is nobody's purpose, and what stays is listed by `jackin doctor`.
 */
export async function removeDeadLocks(world: World): Promise<void> {
  const { paths, events } = world;
  try {
    for (const name of await readdir(paths.dataDir).catch(() => [])) {
      if (!/^(jk|target)-/.test(name) || !name.endsWith(HELD_SUFFIX)) continue;
      const base = name.slice(0, -HELD_SUFFIX.length);
      const path = join(paths.dataDir, `${base}.lock`);
      // Free though its directory is there: the owner is dead.
      if ((await hasInstance(world, base)) || (await inspectLock(path)).state !== 'free') continue;
      await remove(world, base, path);
      events({ type: 'debug', message: 'removed the lock of a process that is gone', fields: { path } });
    }
  } catch (error) {
    const { code, message } = toJackinError(error);
    events({ type: 'debug', message: `dead locks were left: ${message}`, fields: { code } });
  }
}

/** Nobody else can be making that instance while we hold its lock. */
async function remove(world: World, base: string, path: string): Promise<void> {
  const { locksDb } = world.paths;
  const lock = await acquireLock(path, {
    purpose: 'remove a dead lock',
    locksDb,
    waitMs: 0,
    clock: world.clock,
  });
  await lock.release({ remove: !(await hasInstance(world, base)) });
}

/** Not being able to look counts as yes. */
async function hasInstance({ paths }: World, base: string): Promise<boolean> {
  try {
    await lstat(join(paths.dataDir, base));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
