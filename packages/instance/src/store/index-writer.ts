import { rename } from 'node:fs/promises';
import {
  acquireLock,
  ensurePrivateDir,
  fileSystemError,
  giveBack,
  type Lock,
  writeFileDurable,
} from '@jackin/core';
import type { IndexRow } from '../index-file.ts';
import type { Manifest } from '../manifest.ts';
import { formatIndex, type IndexDocument, readIndexDocument, rowOf } from './index-document.ts';
import { sameJson } from './json-document.ts';
import { listBases, readManifests } from './load.ts';
import { pathExists } from './path-exists.ts';
import type { InstanceStoreOptions } from './types.ts';

const DEFAULT_LOCK_WAIT_MS = 10_000;

/**
 * Runs `work` while this process alone may write the index and the manifests.
 * @throws JackinError `LOCK_HELD` naming the owner when another process does not finish in time
 */
export async function withIndexLock<T>(
  options: InstanceStoreOptions,
  purpose: string,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const { paths, clock, events } = options;
  await ensurePrivateDir(paths.dataDir);
  const lock = await acquireLock(`${paths.indexFile}.lock`, {
    purpose,
    locksDb: paths.locksDb,
    waitMs: options.lockWaitMs ?? DEFAULT_LOCK_WAIT_MS,
    events,
    clock,
  });
  try {
    return await work(lock);
  } finally {
    await giveBack(lock, events);
  }
}

/** Adds or replaces one row. An index that cannot be used is set aside and rebuilt instead. Needs the lock. */
export async function upsertRow(
  options: InstanceStoreOptions,
  lock: Lock,
  manifest: Manifest,
): Promise<void> {
  const index = await readIndexDocument(options.paths.indexFile);
  if (index.state !== 'ok') return rebuild(options, lock, index);
  const old = index.rows.find((row) => row.container_base === manifest.container_base);
  const others = index.rows.filter((row) => row.container_base !== manifest.container_base);
  const row = rowOf(manifest, old);
  if (others.length === index.rows.length - 1 && sameJson(old, row)) return;
  await write(options, lock, index, [...others, row]);
}

/** Takes one row away. Needs the lock. */
export async function deleteRow(options: InstanceStoreOptions, lock: Lock, base: string): Promise<void> {
  const index = await readIndexDocument(options.paths.indexFile);
  const rows = index.rows.filter((row) => row.container_base !== base);
  if (index.state !== 'ok') return rebuild(options, lock, { ...index, rows });
  if (rows.length < index.rows.length) await write(options, lock, index, rows);
}

/**
 * Writes the index from the manifests. Rows without a usable manifest stay: they are all that is left of an
 * interrupted clean-up or a corrupt record. A file that cannot be used is renamed first, so nothing is destroyed.
 * Needs the lock.
 */
export async function rebuild(
  options: InstanceStoreOptions,
  lock: Lock,
  known?: IndexDocument,
): Promise<void> {
  const { paths, events } = options;
  const index = known ?? (await readIndexDocument(paths.indexFile));
  const { instances } = await readManifests(paths, await listBases(paths));
  const oldRows = new Map(index.rows.map((row) => [row.container_base, row]));
  const rows = instances.map((manifest) => rowOf(manifest, oldRows.get(manifest.container_base)));
  for (const manifest of instances) oldRows.delete(manifest.container_base);
  const unusable = index.state === 'corrupt' || index.state === 'other_version';
  if (unusable) await setAside(options, lock, index);
  await write(options, lock, index, [...rows, ...oldRows.values()]);
  const message = `${paths.indexFile} was rebuilt from ${instances.length} instance record(s).`;
  // A missing or stale index is no news: the first instance makes the one, a killed process the other.
  events(
    unusable
      ? { type: 'notice', level: 'info', code: 'INDEX_REBUILT', message }
      : { type: 'debug', message, fields: { state: index.state } },
  );
}

async function setAside(options: InstanceStoreOptions, lock: Lock, index: IndexDocument): Promise<void> {
  const { paths, clock, events } = options;
  const newer = index.version !== null && index.version > 1;
  const stamp = clock.now().toISOString().replace(/[-:]/g, '').replace('.', '_');
  const wanted = `${paths.indexFile}.${newer ? 'newer' : 'corrupt'}-${stamp}`;
  lock.assertHeld();
  try {
    let target = wanted;
    for (let n = 2; await pathExists(target); n += 1) target = `${wanted}-${n}`;
    await rename(paths.indexFile, target);
    events({
      type: 'notice',
      level: 'warn',
      code: 'INDEX_SET_ASIDE',
      message: `${paths.indexFile} could not be used (${index.reason}) and was kept as ${target}.`,
    });
  } catch (error) {
    throw fileSystemError(error, paths.indexFile, 'rename');
  }
}

async function write(
  options: InstanceStoreOptions,
  lock: Lock,
  index: IndexDocument,
  rows: IndexRow[],
): Promise<void> {
  lock.assertHeld();
  await writeFileDurable(options.paths.indexFile, formatIndex(index.extra, rows), { mode: 0o600 });
}
