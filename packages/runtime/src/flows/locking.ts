import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, ensurePrivateDir, giveBack, type Lock } from '@jackin/core';
import { removeDeadLocks } from './dead-locks.ts';
import type { World } from './world.ts';

/** How long a command waits for another one on the same instance before it gives up, naming the owner. */
const INSTANCE_WAIT_MS = 30_000;
const TARGET_WAIT_MS = 30_000;

/**
 * Runs `fn` with the lock of one instance held. A decision file left in the instance is deleted first: it decides
 * nothing (docs/storage.md#locks). Throws LOCK_HELD naming the owner after `waitMs`.
 */
export async function withInstanceLock<T>(
  world: World,
  base: string,
  options: { purpose: string; waitMs?: number },
  fn: (lock: Lock) => Promise<T>,
): Promise<T> {
  const place = world.paths.instance(base);
  const lock = await take(world, place.lock, options.purpose, options.waitMs ?? INSTANCE_WAIT_MS);
  try {
    await world.store.dropLegacyExitAction(base);
    return await fn(lock);
  } finally {
    // An instance that is gone leaves no lock behind, also when it went away while we waited for it.
    const remove = !(await exists(place.dir));
    await giveBack(lock, world.events, { remove });
    if (remove) await removeDeadLocks(world);
  }
}

/**
 * The lock on one (workspace, role, agent), held from the look-up of candidates to the written row, so that two
 * plain loads at once make one instance.
 */
export async function takeTargetLock(
  world: World,
  target: { workspace: string; role: string; agent: string },
): Promise<{ release(): Promise<void> }> {
  const key = [target.workspace, target.role, target.agent].join('|');
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const path = join(world.paths.dataDir, `target-${name}.lock`);
  const lock = await take(world, path, `load ${target.role} (${target.agent})`, TARGET_WAIT_MS);
  let released: Promise<void> | undefined;
  return {
    release: () => {
      released ??= giveBack(lock, world.events, { remove: true });
      return released;
    },
  };
}

async function take(world: World, path: string, purpose: string, waitMs: number): Promise<Lock> {
  const { paths, events, clock } = world;
  await ensurePrivateDir(paths.dataDir);
  return acquireLock(path, { purpose, locksDb: paths.locksDb, waitMs, events, clock });
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
