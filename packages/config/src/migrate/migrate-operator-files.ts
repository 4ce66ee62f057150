import type { EventSink, JackinPaths } from '@jackin/core';
import { withConfigLock, writeConfigFile } from '../files.ts';
import { validGlobal, validWorkspace } from '../schema/validate.ts';
import { type OperatorFile, type OperatorFiles, readOperatorFiles } from './operator-files.ts';

export interface MigratedFile {
  file: string;
  from: string;
  to: string;
}

/**
 * Brings the operator's files to the newest form in place (docs/schema-timeline.md): under the lock, each file durably,
 * and nothing at all when any of them cannot be understood. Current files are not written. Tables of workspaces in
 * `config.toml` become files; a kill in between leaves both, which say the same.
 * @param options.waitMs how long to wait for another editor; default 5 seconds
 * @returns what was written, empty when everything is current
 * @throws JackinError `CONFIG_TOO_NEW`, `CONFIG_INVALID`, `LOCK_HELD`, `STATE_NOT_WRITABLE`, `DISK_FULL`
 */
export async function migrateOperatorFiles(
  paths: Pick<JackinPaths, 'configDir' | 'locksDb'>,
  options: { events: EventSink; waitMs?: number },
): Promise<MigratedFile[]> {
  if (outdated(await readOperatorFiles(paths.configDir)).length === 0) return [];
  return withConfigLock(paths, { ...options, purpose: 'migrate the configuration' }, async () => {
    const files = await readOperatorFiles(paths.configDir);
    validGlobal(files.config);
    for (const file of files.workspaces.values()) validWorkspace(file);
    return writeOperatorFiles(files);
  });
}

/**
 * What was written, or would be. Workspaces first: `config.toml` loses a table only once its file is on the disk.
 * Nothing is written when any of them cannot be understood.
 * @throws JackinError `CONFIG_INVALID`, and what writing throws
 */
export async function writeOperatorFiles(
  files: OperatorFiles,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<MigratedFile[]> {
  const written = outdated(files);
  for (const file of written) {
    if (file.kind === 'config') validGlobal(file);
    else validWorkspace(file);
  }
  if (!dryRun) for (const { file, text } of written) await writeConfigFile(file, text);
  return written.map(({ file, from, to }) => ({ file, from, to }));
}

function outdated({ config, workspaces }: OperatorFiles): OperatorFile[] {
  const all = [...workspaces.values(), ...(config === null ? [] : [config])];
  return all.filter(({ text, original }) => text !== original);
}
