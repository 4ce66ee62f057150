import { lstat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, fileSystemError, type JackinPaths, writeFileDurable } from '@jackin/core';
import type { IsolationRecord } from '../isolation.ts';
import { assertTransition } from '../lifecycle.ts';
import { type Manifest, manifestSchema } from '../manifest.ts';
import { createInstance } from './create.ts';
import { readIndexDocument } from './index-document.ts';
import { deleteRow, rebuild, upsertRow, withIndexLock } from './index-writer.ts';
import { readIsolationFile, writeIsolationFile } from './isolation-file.ts';
import { applyChange, formatJsonNode, type JsonNode, parseJsonNode, sameJson } from './json-document.ts';
import { isHalfRemoved, loadState } from './load.ts';
import { manifestError, readManifestFile } from './manifest-file.ts';
import { instanceNotFound, resolveSelector } from './resolve.ts';
import type { InstanceStoreOptions, IsolationState, LoadedState, ResolvedInstance } from './types.ts';

/** The only writer of manifests and index (docs/storage.md). */
export interface InstanceStore {
  /**
   * Looks at everything and writes nothing. What is wrong with the index is also told as a notice event, once.
   * @throws JackinError `STATE_NOT_READABLE` when the state directories cannot be listed
   */
  load(): Promise<LoadedState>;
  /**
   * @returns null when there is no directory of this name, or only what a clean-up left of it
   * @throws JackinError `MANIFEST_CORRUPT` (also for a directory without a manifest) or `MANIFEST_TOO_NEW`
   */
  read(base: string): Promise<Manifest | null>;
  /**
   * Makes the directories, then the manifest, then the row; takes back what it made when a later part fails.
   * The caller holds the instance's lock.
   * @throws JackinError `INSTANCE_EXISTS`; `DISK_FULL`, `STATE_NOT_WRITABLE`, `LOCK_HELD`
   */
  create(manifest: Manifest): Promise<void>;
  /**
   * Writes the manifest, then its row; sets `updated_at`; keeps unknown members and their order. A change that
   * changes nothing writes nothing but a missing row. The read and the write are one step for other processes.
   * @throws JackinError `INSTANCE_NOT_FOUND`, `ILLEGAL_TRANSITION`, `MANIFEST_CORRUPT`, `MANIFEST_TOO_NEW`,
   *   `DISK_FULL`, `STATE_NOT_WRITABLE`, `LOCK_HELD`
   */
  update(base: string, change: (manifest: Manifest) => Manifest): Promise<Manifest>;
  /** The isolated mounts of an instance. `corrupt` is not "none": such an instance may hold work. */
  readIsolation(base: string): Promise<IsolationState>;
  /**
   * Changes the mount records. The caller holds the instance's lock.
   * @throws JackinError `ISOLATION_CORRUPT`, `DISK_FULL`, `STATE_NOT_WRITABLE`
   */
  changeIsolation(base: string, change: (records: IsolationRecord[]) => IsolationRecord[]): Promise<void>;
  /** Writes the index from the manifests; an unusable file is renamed beside it first. */
  rebuildIndex(): Promise<void>;
  /** Takes the row of a removed instance away. No row is fine. */
  removeRow(base: string): Promise<void>;
  /**
   * Finds an instance by id, base name, or an unambiguous prefix of either.
   * @throws JackinError `INSTANCE_NOT_FOUND`, `INSTANCE_AMBIGUOUS` (lists the matches), `MANIFEST_CORRUPT` or
   *   `MANIFEST_TOO_NEW` when the match cannot be used
   */
  resolve(selector: string): Promise<ResolvedInstance>;
  /**
   * Deletes a decision file of an older jackin. Its content is never read: only the operator decides.
   * @returns whether there was one
   */
  dropLegacyExitAction(base: string): Promise<boolean>;
}

/** A store over the state directories; nothing is created before the first write. */
export function createInstanceStore(options: InstanceStoreOptions): InstanceStore {
  const { paths, events } = options;
  const told = new Set<string>();
  return {
    async load() {
      const state = await loadState(paths);
      for (const notice of state.notices) {
        if (told.has(notice.message)) continue;
        told.add(notice.message);
        events({ type: 'notice', level: 'warn', ...notice });
      }
      return state;
    },
    read: (base) => readManifest(paths, base),
    create: (manifest) => createInstance(options, manifest),
    update: (base, change) => updateManifest(options, base, change),
    readIsolation: (base) => readIsolationFile(paths.instance(base)),
    changeIsolation: (base, change) => writeIsolationFile(paths.instance(base), change),
    rebuildIndex: () => withIndexLock(options, 'rebuild index', (lock) => rebuild(options, lock)),
    removeRow: (base) => withIndexLock(options, 'remove index row', (lock) => deleteRow(options, lock, base)),
    resolve: async (selector) => resolveSelector(await loadState(paths), selector),
    dropLegacyExitAction: (base) => dropLegacyExitAction(paths.instance(base).state),
  };
}

async function readManifest(paths: JackinPaths, base: string): Promise<Manifest | null> {
  const file = await readManifestFile({ base, ...paths.instance(base) });
  if (file.state === 'absent') return null;
  if (file.state !== 'corrupt') return file.manifest;
  // A clean-up that was interrupted removed it: to those who finish that, there is none.
  if (isHalfRemoved(base, file.reason, await readIndexDocument(paths.indexFile))) return null;
  throw manifestError(file);
}

async function updateManifest(
  options: InstanceStoreOptions,
  base: string,
  change: (manifest: Manifest) => Manifest,
): Promise<Manifest> {
  const where = options.paths.instance(base);
  return withIndexLock(options, `update ${base}`, async (lock) => {
    const file = await readManifestFile({ base, ...where });
    if (file.state === 'absent') throw instanceNotFound(base);
    if (file.state === 'corrupt') throw manifestError(file);
    const before = file.manifest;
    const document = parseForRewrite(file.text, where.manifest);
    const changed = change(structuredClone(before));
    assertTransition(before.status, changed.status);
    if (sameJson(before, changed)) {
      await upsertRow(options, lock, before);
      return before;
    }
    const after = checked(before, {
      ...changed,
      updated_at: options.clock.now().toISOString(),
    });
    const text = formatJsonNode(applyChange(document, before, after));
    lock.assertHeld();
    await writeFileDurable(where.manifest, text, { mode: 0o600 });
    await upsertRow(options, lock, after);
    return after;
  });
}

function parseForRewrite(text: string, path: string): JsonNode {
  try {
    return parseJsonNode(text);
  } catch (error) {
    const reason = `cannot be rewritten: ${(error as Error).message}`;
    throw manifestError({ state: 'corrupt', code: 'MANIFEST_CORRUPT', path, reason });
  }
}

/** Only a programming error can change what identifies an instance or break the schema. */
function checked(before: Manifest, after: Manifest): Manifest {
  for (const field of ['version', 'instance_id', 'container_base', 'created_at'] as const) {
    if (before[field] !== after[field]) throw new TypeError(`update must not change ${field}`);
  }
  return manifestSchema.parse(after);
}

async function dropLegacyExitAction(stateDir: string): Promise<boolean> {
  const path = join(stateDir, 'exit-action.json');
  try {
    // The container may have put a link in its place: nothing elsewhere is ours to delete.
    if (!(await lstat(stateDir)).isDirectory()) return false;
    await unlink(path);
    return true;
  } catch (error) {
    const code = errorCode(error) ?? '';
    // The container can write here: something else of that name (EPERM: macOS's word for a directory) is no
    // decision file and must not block an exit.
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EPERM'].includes(code)) return false;
    throw fileSystemError(error, path, 'delete');
  }
}
