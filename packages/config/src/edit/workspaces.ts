import { lstat, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, fileSystemError, JackinError, type JackinPaths, syncDirectory } from '@jackin/core';
import { stampVersion, type TomlEdit } from '../document/index.ts';
import { type EditOptions, withConfigLock } from '../files.ts';
import { writeOperatorFiles } from '../migrate/migrate-operator-files.ts';
import { type OperatorFiles, readOperatorFiles, workspaceNames } from '../migrate/operator-files.ts';
import { WORKSPACE_VERSION } from '../version.ts';
import { workspaceNameFault } from '../workspace-name.ts';
import { type Edits, editedText, editsFor } from './candidate.ts';
import { differences } from './differences.ts';
import type { Edited } from './edit-config.ts';

type ConfigPaths = Pick<JackinPaths, 'configDir' | 'locksDb'>;

/**
 * Edits a workspace's file, as `editConfig` does (docs/configuration.md#editing).
 * @throws JackinError `WORKSPACE_NOT_FOUND`, and what `editConfig` throws
 */
export async function editWorkspace(
  paths: ConfigPaths,
  name: string,
  edits: Edits,
  options: EditOptions,
): Promise<Edited> {
  return locked(paths, `edit workspace ${name}`, options, async () => {
    const files = await readOperatorFiles(paths.configDir, [name]);
    const workspace = files.workspaces.get(name);
    if (workspace === undefined) throw await notFound(paths, name, files);
    const before = workspace.text;
    workspace.text = editedText(workspace, edits);
    const changes = differences(before, workspace.text);
    const written = await writeOperatorFiles(files, options);
    return { file: workspace.file, changed: written.some(({ file }) => file === workspace.file), changes };
  });
}

/**
 * Makes a workspace's file.
 * @param value its fields, without `version`, or the edits of an empty file that make them
 * @throws JackinError `WORKSPACE_NAME_INVALID`, `WORKSPACE_EXISTS`, and what `editConfig` throws
 */
export async function createWorkspace(
  paths: ConfigPaths,
  name: string,
  value: Readonly<Record<string, unknown>> | readonly TomlEdit[],
  options: EditOptions,
): Promise<Edited> {
  requireName(name);
  const file = workspaceFile(paths, name);
  return locked(paths, `create workspace ${name}`, options, async () => {
    const files = await readOperatorFiles(paths.configDir, [name]);
    await requireFree(file, name, files);
    const source = { file, text: '', prefix: [] };
    const edits = Array.isArray(value) ? (value as readonly TomlEdit[]) : editsFor(value);
    const made = editedText({ kind: 'workspace', text: '', source }, edits);
    const text = stampVersion(made, WORKSPACE_VERSION);
    const [from, to] = [WORKSPACE_VERSION, WORKSPACE_VERSION];
    files.workspaces.set(name, { kind: 'workspace', name, file, original: null, text, from, to, source });
    await writeOperatorFiles(files, options);
    return { file, changed: true, changes: differences('', made) };
  });
}

/**
 * Gives a workspace's file another name; the file itself stays as it is, a link stays one.
 * @throws JackinError `WORKSPACE_NOT_FOUND`, `WORKSPACE_NAME_INVALID`, `WORKSPACE_EXISTS`, and what `editConfig` throws
 */
export async function renameWorkspace(
  paths: ConfigPaths,
  from: string,
  to: string,
  options: EditOptions,
): Promise<Edited> {
  requireName(to);
  const [old, file] = [workspaceFile(paths, from), workspaceFile(paths, to)];
  return locked(paths, `rename workspace ${from} to ${to}`, options, async () => {
    const files = await readOperatorFiles(paths.configDir, [from, to]);
    if (!files.workspaces.has(from)) throw await notFound(paths, from, files);
    if (from === to) return { file, changed: false, changes: [] };
    await requireFree(file, to, files);
    await writeOperatorFiles(files, options);
    if (options.dryRun !== true) await changeDirectory(old, 'rename', () => rename(old, file));
    return { file, changed: true, changes: [] };
  });
}

/**
 * Removes a workspace's file, also one that cannot be understood; a link is removed and not what it leads to.
 * @throws JackinError `WORKSPACE_NOT_FOUND`, `LOCK_HELD`, `STATE_NOT_WRITABLE`
 */
export async function removeWorkspace(
  paths: ConfigPaths,
  name: string,
  options: EditOptions,
): Promise<Edited> {
  const file = workspaceFile(paths, name);
  return locked(paths, `remove workspace ${name}`, options, async () => {
    const files = await readOperatorFiles(paths.configDir, []);
    const known = workspaceNameFault(name) === null || (await listed(paths)).includes(name);
    if (!known || (!files.workspaces.has(name) && !(await exists(file))))
      throw await notFound(paths, name, files);
    await writeOperatorFiles(files, options);
    if (options.dryRun !== true) await changeDirectory(file, 'remove', () => unlink(file));
    return { file, changed: true, changes: [] };
  });
}

function locked(
  paths: ConfigPaths,
  purpose: string,
  options: EditOptions,
  work: () => Promise<Edited>,
): Promise<Edited> {
  return withConfigLock(paths, { ...options, purpose }, work);
}

function workspaceFile({ configDir }: ConfigPaths, name: string): string {
  return join(configDir, 'workspaces', `${name}.toml`);
}

async function changeDirectory(file: string, action: string, change: () => Promise<void>): Promise<void> {
  try {
    await change();
    await syncDirectory(dirname(file));
  } catch (error) {
    throw fileSystemError(error, file, action);
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw fileSystemError(error, file, 'read');
  }
}

function listed({ configDir }: ConfigPaths): Promise<string[]> {
  return workspaceNames(join(configDir, 'workspaces'));
}

function requireName(name: string): void {
  const fault = workspaceNameFault(name);
  if (fault === null) return;
  throw new JackinError({
    code: 'WORKSPACE_NAME_INVALID',
    message: `${JSON.stringify(name)} cannot be the name of a workspace: it ${fault}.`,
    hint: 'Choose a name like those of files, for example: my-app',
    details: { name },
    exitCode: 2,
  });
}

async function requireFree(file: string, name: string, files: OperatorFiles): Promise<void> {
  if (!files.workspaces.has(name) && !(await exists(file))) return;
  throw new JackinError({
    code: 'WORKSPACE_EXISTS',
    message: `There is a workspace ${JSON.stringify(name)} already: ${file}.`,
    hint: `Choose another name, or change it with: jackin workspace edit ${name}`,
    details: { name, file },
  });
}

async function notFound(paths: ConfigPaths, name: string, files: OperatorFiles): Promise<JackinError> {
  const names = [...new Set([...(await listed(paths)), ...files.workspaces.keys()])].sort();
  return new JackinError({
    code: 'WORKSPACE_NOT_FOUND',
    message: `There is no workspace ${JSON.stringify(name)}.`,
    hint:
      names.length === 0 ? 'Make one with: jackin workspace create NAME' : `Workspaces: ${names.join(', ')}`,
    details: { name, workspaces: names },
    exitCode: 2,
  });
}
