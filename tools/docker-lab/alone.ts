import { mkdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLock } from '@jackin/core';

/** Whoever is inside may be building the base image on a slow machine. */
const WAIT_MS = 900_000;

/** What only one process of this machine does at a time: make or sweep labs, install packages, build the base image. */
export type Occupation = 'labs' | 'packages' | 'base-image';

/** Runs `action` while no other process of this user has the same occupation. Not re-entrant. */
export async function alone<T>(occupation: Occupation, action: () => Promise<T>): Promise<T> {
  const dir = await stateDir();
  const lock = await acquireLock(join(dir, `${occupation}.lock`), {
    purpose: `docker-lab: ${occupation}`,
    locksDb: join(dir, 'locks.db'),
    waitMs: WAIT_MS,
  });
  try {
    return await action();
  } finally {
    await lock.release();
  }
}

/** The directory that survives runs: the locks, and the cached images unless `JACKIN_LAB_CACHE` says where. */
export async function stateDir(): Promise<string> {
  const dir = join(await temporary(), `jackin-lab-cache-${process.getuid?.() ?? 0}`);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return dir;
}

/** Where labs are. Short, because the path of a Unix socket may have 103 bytes. */
export async function temporary(): Promise<string> {
  const dir = await realpath(tmpdir());
  return dir.length > 60 ? '/tmp' : dir;
}
