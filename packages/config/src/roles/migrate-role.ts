import { lstat } from 'node:fs/promises';
import { fileSystemError, readFileBounded, writeFileDurable } from '@jackin/core';
import { type MigratedText, migrateText } from '../migrate/migrate-text.ts';
import { canonicalRole, openRoleFiles, readManifest } from './directory.ts';
import { roleInvalid } from './errors.ts';
import { readVersion } from './manifest.ts';

export interface MigratedRole extends Omit<MigratedText, 'text'> {
  file: string;
  /** False: it was current already, and no byte was written. A dry run says what would be. */
  changed: boolean;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Brings the manifest of a role up to date where it is written (docs/roles.md#versions). Comments, order, line ends and
 * the permissions of the file stay. What is wrong with it besides its age is refused first, and nothing is written.
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_INVALID`, `ROLE_VERSION` for a newer one, `STATE_NOT_READABLE`,
 *   `STATE_NOT_WRITABLE`, `DISK_FULL`
 */
export async function migrateRole(
  path: string,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<MigratedRole> {
  const dir = await canonicalRole(path);
  const { file, text: checked } = await readManifest(dir);
  readVersion(file, checked);
  const { text, from, to, steps } = migrateText('manifest', await exactText(file), file);
  if (steps.length === 0) return { file, from, to, steps, changed: false };
  const mode = await modeOf(file);
  await openRoleFiles(dir, text);
  if (!dryRun) await writeFileDurable(file, text, { mode });
  return { file, from, to, steps, changed: true };
}

/** With its byte order mark, should it have one. */
async function exactText(file: string): Promise<string> {
  const bytes = await readFileBounded(file, { maxBytes: MAX_BYTES });
  if (bytes === null) throw roleInvalid(file, { key: '', reason: 'the file is gone' }, 'Put it back.');
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

async function modeOf(file: string): Promise<number> {
  try {
    return (await lstat(file)).mode & 0o777;
  } catch (error) {
    throw fileSystemError(error, file, 'read');
  }
}
