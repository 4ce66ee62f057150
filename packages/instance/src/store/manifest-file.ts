import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, JackinError, readFileBounded } from '@jackin/core';
import { type Manifest, manifestSchema } from '../manifest.ts';
import { describeIssues, parseJsonBytes, reasonOf } from './parse.ts';

/** The reason of a directory without a manifest. */
export const NO_MANIFEST = 'no manifest';
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

export type ManifestFile =
  | { state: 'ok'; manifest: Manifest; text: string }
  /** There is no directory of this name. */
  | { state: 'absent' }
  | { state: 'corrupt'; code: 'MANIFEST_CORRUPT' | 'MANIFEST_TOO_NEW'; path: string; reason: string };

/**
 * Reads one manifest without following links and without writing. Whatever is wrong with it is an answer: one bad
 * record must never hide another (docs/storage.md#corrupt-records).
 * @param where the instance's directory, its manifest and the base name the manifest must carry
 */
export async function readManifestFile(where: {
  base: string;
  dir: string;
  manifest: string;
}): Promise<ManifestFile> {
  const corrupt = (reason: string, path = where.manifest): ManifestFile => ({
    state: 'corrupt',
    code: 'MANIFEST_CORRUPT',
    path,
    reason,
  });
  try {
    const directory = await entryKind(where.dir);
    if (directory === 'absent') return { state: 'absent' };
    if (directory !== 'directory') return corrupt(`${directory} where a directory is expected`, where.dir);
    const meta = dirname(where.manifest);
    const metaKind = await entryKind(meta);
    if (metaKind !== 'directory' && metaKind !== 'absent') {
      return corrupt(`${metaKind} where a directory is expected`, meta);
    }
    const bytes = await readFileBounded(where.manifest, { maxBytes: MAX_MANIFEST_BYTES });
    if (bytes === null) {
      // The instance may have been removed between the two looks.
      return (await entryKind(where.dir)) === 'absent' ? { state: 'absent' } : corrupt(NO_MANIFEST);
    }
    return parseManifest(bytes, where);
  } catch (error) {
    return corrupt(reasonOf(error));
  }
}

/** The named error for a manifest that cannot be used. */
export function manifestError(file: Extract<ManifestFile, { state: 'corrupt' }>): JackinError {
  return new JackinError({
    code: file.code,
    message: `The record ${file.path} cannot be used: ${file.reason}.`,
    hint:
      file.code === 'MANIFEST_TOO_NEW'
        ? 'Upgrade jackin to the version that wrote it. Nothing was changed.'
        : `Repair or restore ${file.path}; the files next to it are untouched. See all records with: jackin status`,
    details: { path: file.path, reason: file.reason },
  });
}

function parseManifest(bytes: Uint8Array, where: { base: string; manifest: string }): ManifestFile {
  const corrupt = (reason: string, code: 'MANIFEST_CORRUPT' | 'MANIFEST_TOO_NEW' = 'MANIFEST_CORRUPT') =>
    ({ state: 'corrupt', code, path: where.manifest, reason }) as const;
  const parsed = parseJsonBytes(bytes);
  if (parsed.state === 'corrupt') return corrupt(parsed.reason);
  const version = parsed.version;
  if (version !== null && version > 2) {
    return corrupt(`version ${version} is newer than this jackin understands (2)`, 'MANIFEST_TOO_NEW');
  }
  const result = manifestSchema.safeParse(parsed.value);
  if (!result.success) return corrupt(describeIssues(result.error));
  if (result.data.container_base !== where.base) {
    return corrupt(`it belongs to ${JSON.stringify(result.data.container_base)}, not to this directory`);
  }
  return { state: 'ok', manifest: result.data, text: parsed.text };
}

async function entryKind(path: string): Promise<'directory' | 'absent' | 'symbolic link' | 'file'> {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) return 'directory';
    return stats.isSymbolicLink() ? 'symbolic link' : 'file';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'absent';
    throw error;
  }
}
