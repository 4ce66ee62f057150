import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errorCode,
  fileSystemError,
  JackinError,
  type JackinPaths,
  removeTree,
  syncDirectory,
  writeFileDurable,
} from '@jackin/core';
import { type Manifest, manifestSchema } from '../manifest.ts';
import { upsertRow, withIndexLock } from './index-writer.ts';
import { pathExists } from './path-exists.ts';
import type { InstanceStoreOptions } from './types.ts';

const STAGING_PREFIX = '.new-';

/**
 * See {@link InstanceStore.create}. The directory is made under another name and renamed when it is complete, so
 * that nobody ever sees an instance of ours without its manifest, whenever we are killed.
 */
export async function createInstance(options: InstanceStoreOptions, manifest: Manifest): Promise<void> {
  const { paths } = options;
  // Parsing also puts the members into the documented order.
  const value = manifestSchema.parse(manifest);
  const base = value.container_base;
  const where = paths.instance(base);
  const staging = join(paths.dataDir, `${STAGING_PREFIX}${base}`);
  await withIndexLock(options, `create ${base}`, async (lock) => {
    await sweepStaging(paths);
    if (await pathExists(where.dir)) throw alreadyThere(base, where.dir);
    try {
      for (const name of ['.', '.jackin', 'home', 'state']) await makeDirectory(join(staging, name));
      const file = join(staging, '.jackin', 'instance.json');
      await writeFileDurable(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
      // A power cut must not take away a directory whose row survives.
      await syncDirectory(staging);
      lock.assertHeld();
      await move(staging, where.dir, base);
    } catch (error) {
      await takeBack(staging, paths);
      throw error;
    }
    try {
      await upsertRow(options, lock, value);
    } catch (error) {
      await takeBack(where.dir, paths);
      throw error;
    }
  });
}

/** Whoever makes an instance holds the lock we hold now: what is half made is a dead process's. */
async function sweepStaging(paths: JackinPaths): Promise<void> {
  for (const name of await readdir(paths.dataDir)) {
    if (name.startsWith(`${STAGING_PREFIX}jk-`)) await takeBack(join(paths.dataDir, name), paths);
  }
}

/** A failure here must not hide the one that led here; what stays is swept by the next launch, or visible. */
async function takeBack(path: string, paths: JackinPaths): Promise<void> {
  await removeTree(path, { inside: paths.dataDir }).catch(() => undefined);
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    throw fileSystemError(error, path, 'create');
  }
}

async function move(from: string, to: string, base: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const taken = ['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(errorCode(error) ?? '');
    throw taken ? alreadyThere(base, to) : fileSystemError(error, to, 'create');
  }
}

function alreadyThere(base: string, path: string): JackinError {
  return new JackinError({
    code: 'INSTANCE_EXISTS',
    message: `There is already something at ${path}.`,
    hint: `Look at it with: jackin status ${base}`,
    details: { container_base: base, path },
  });
}
