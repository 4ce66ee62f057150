import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, fileSystemError, type JackinPaths, refuseDanglingLink } from '@jackin/core';
import { instanceIdOf } from '../naming.ts';
import { type IndexDocument, newestFirst, readIndexDocument, rowsMatch } from './index-document.ts';
import { type ManifestFile, NO_MANIFEST, readManifestFile } from './manifest-file.ts';
import type { CorruptRecord, LoadedState } from './types.ts';

const PREFIX = 'jk-';
const LOCK_SUFFIXES = ['.lock', '.lock.d'];
const PARALLEL_READS = 32;

/**
 * Looks at every instance directory, the index, the locks and the socket directories; writes nothing.
 * The manifests win over the index (docs/storage.md#index).
 * @throws JackinError `STATE_NOT_READABLE` when a directory cannot be listed, `LINK_TARGET_MISSING` when it is a link to
 * nothing: not seeing is not absence
 */
export async function loadState(paths: JackinPaths): Promise<LoadedState> {
  const [entries, sockets, index] = await Promise.all([
    listNames(paths.dataDir),
    listNames(paths.socketsDir),
    readIndexDocument(paths.indexFile),
  ]);
  const bases = new Set<string>();
  const locks = new Set<string>();
  for (const { name, isFile } of entries) {
    const suffix = LOCK_SUFFIXES.find((ending) => name.endsWith(ending));
    if (suffix !== undefined) locks.add(name.slice(0, -suffix.length));
    else if (!isFile) bases.add(name);
  }
  const { instances, corrupt: unusable } = await readManifests(paths, [...bases]);
  const corrupt = unusable.filter(({ container_base: base, reason }) => !isHalfRemoved(base, reason, index));
  const known = new Set([...instances, ...corrupt].map((record) => record.container_base));
  const stale = index.state === 'ok' && !rowsMatch(index.rows, instances);
  const state: LoadedState = {
    instances,
    corrupt,
    rows: index.rows,
    indexState: stale ? 'stale' : index.state,
    indexReason: stale ? 'it does not say what the manifests say' : index.reason,
    rowsWithoutManifest: index.rows.filter((row) => !known.has(row.container_base)),
    lockOnly: [...locks].filter((base) => !known.has(base)).sort(),
    socketOnly: sockets
      .map(({ name }) => name)
      .filter((base) => !known.has(base))
      .sort(),
    notices: [],
  };
  return { ...state, notices: indexNotices(paths, index, known.size) };
}

/** A clean-up starts by writing `purged`: with that row, a directory that lost its manifest is what it left. */
export function isHalfRemoved(base: string, reason: string, index: IndexDocument): boolean {
  const row = index.rows.find((one) => one.container_base === base);
  return reason === NO_MANIFEST && row?.status === 'purged';
}

/** Every manifest that can be used, newest first, and every one that cannot. */
export async function readManifests(
  paths: JackinPaths,
  bases: string[],
): Promise<Pick<LoadedState, 'instances' | 'corrupt'>> {
  const files: [string, ManifestFile][] = [];
  for (let start = 0; start < bases.length; start += PARALLEL_READS) {
    const chunk = bases.slice(start, start + PARALLEL_READS);
    files.push(
      ...(await Promise.all(
        chunk.map(async (base): Promise<[string, ManifestFile]> => [base, await readOne(paths, base)]),
      )),
    );
  }
  const found = files.flatMap(([, file]) => (file.state === 'ok' ? [file.manifest] : []));
  const corrupt = files.flatMap(([base, file]): CorruptRecord[] => {
    if (file.state !== 'corrupt') return [];
    const { code, path, reason } = file;
    return [{ path, container_base: base, instance_id: instanceIdOf(base), code, reason }];
  });
  return {
    instances: found.sort(newestFirst),
    corrupt: corrupt.sort((a, b) => (a.container_base < b.container_base ? -1 : 1)),
  };
}

/** The base names of all instance directories, usable or not. */
export async function listBases(paths: JackinPaths): Promise<string[]> {
  const entries = await listNames(paths.dataDir);
  const isLock = (name: string) => LOCK_SUFFIXES.some((suffix) => name.endsWith(suffix));
  return entries.filter(({ name, isFile }) => !isFile && !isLock(name)).map(({ name }) => name);
}

async function readOne(paths: JackinPaths, base: string): Promise<ManifestFile> {
  const path = join(paths.dataDir, base);
  if (!/^[A-Za-z0-9._-]+$/.test(base)) {
    return { state: 'corrupt', code: 'MANIFEST_CORRUPT', path, reason: 'not an instance name' };
  }
  const { dir, manifest } = paths.instance(base);
  return readManifestFile({ base, dir, manifest });
}

async function listNames(directory: string): Promise<{ name: string; isFile: boolean }[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.name.startsWith(PREFIX))
      .map((entry) => ({ name: entry.name, isFile: !entry.isDirectory() && !entry.isSymbolicLink() }));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw fileSystemError(error, directory, 'read');
    await refuseDanglingLink(directory);
    return [];
  }
}

function indexNotices(paths: JackinPaths, index: IndexDocument, known: number): LoadedState['notices'] {
  const say = (code: string, what: string) => [
    { code, message: `${what}; the instances were read from their own records.` },
  ];
  switch (index.state) {
    case 'ok':
      return [];
    case 'missing':
      return known === 0 ? [] : say('INDEX_MISSING', `${paths.indexFile} is missing`);
    case 'corrupt':
      return say('INDEX_CORRUPT', `${paths.indexFile} cannot be used (${index.reason})`);
    case 'other_version':
      return say('INDEX_OTHER_VERSION', `${paths.indexFile} has another format (${index.reason})`);
  }
}
