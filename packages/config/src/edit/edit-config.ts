import { join } from 'node:path';
import type { JackinPaths } from '@jackin/core';
import { stampVersion } from '../document/index.ts';
import { type EditOptions, withConfigLock } from '../files.ts';
import { writeOperatorFiles } from '../migrate/migrate-operator-files.ts';
import { type OperatorFile, readOperatorFiles } from '../migrate/operator-files.ts';
import { CONFIG_VERSION } from '../version.ts';
import { type Edits, editedText, isEmptyText } from './candidate.ts';
import { differences, type SettingChange } from './differences.ts';

export interface Edited {
  file: string;
  /** False: the file says it already, and was not written. */
  changed: boolean;
  /** What the edits changed, values of variables masked; the migration of an older file is not in it. */
  changes: SettingChange[];
}

/**
 * Edits `config.toml` (docs/configuration.md#editing): under the lock an older file is brought to the newest form, the
 * edits are made, the result is checked by every rule and written durably. Everything the edits do not name stays.
 * @throws JackinError `CONFIG_INVALID`, `CONFIG_TOO_NEW`, `ENV_RESERVED`, `LOCK_HELD`, `STATE_NOT_WRITABLE`,
 *   `DISK_FULL`; the file is then as it was
 */
export async function editConfig(
  paths: Pick<JackinPaths, 'configDir' | 'locksDb'>,
  edits: Edits,
  options: EditOptions,
): Promise<Edited> {
  const file = join(paths.configDir, 'config.toml');
  return withConfigLock(paths, { ...options, purpose: 'edit config.toml' }, async () => {
    const files = await readOperatorFiles(paths.configDir, []);
    files.config ??= newConfig(file);
    const { config } = files;
    const text = editedText(config, edits);
    const changes = differences(config.text, text);
    config.text = config.original === null && !isEmptyText(text) ? stampVersion(text, CONFIG_VERSION) : text;
    if (config.original === null && config.text === '') files.config = null;
    const written = await writeOperatorFiles(files, options);
    return { file, changed: written.some((one) => one.file === file), changes };
  });
}

function newConfig(file: string): OperatorFile {
  const source = { file, text: '', prefix: [] };
  return {
    kind: 'config',
    name: null,
    file,
    original: null,
    text: '',
    from: CONFIG_VERSION,
    to: CONFIG_VERSION,
    source,
  };
}
