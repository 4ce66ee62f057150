import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorCode, fileSystemError, type JackinPaths, refuseDanglingLink } from '@jackin/core';
import type { z } from 'zod';
import { literalReferences } from './env/references.ts';
import { type ConfigIssue, configInvalid, describeIssue } from './errors.ts';
import { isTable, upgradeWorkspaceTable } from './legacy.ts';
import { mountIssues } from './mounts.ts';
import { globalConfigSchema } from './schema/global.ts';
import { type WorkspaceConfig, workspaceConfigSchema } from './schema/workspace.ts';
import { readVersionedToml, type TomlTable, type VersionedTable } from './toml-file.ts';
import type { LoadedConfig } from './types.ts';
import { CONFIG_VERSION, LEGACY, WORKSPACE_VERSION } from './version.ts';

/**
 * Reads `config.toml` and `workspaces/*.toml` of every version from legacy to the current one, writing nothing.
 * Missing files are defaults. A file that cannot be understood is an error, not a default: a forgotten
 * `dirty_exit_policy = "keep"` would delete work.
 * @throws JackinError `CONFIG_TOO_NEW`, `CONFIG_INVALID` (file, key, and line for a syntax error),
 *   `STATE_NOT_READABLE`
 */
export async function loadConfig(paths: Pick<JackinPaths, 'configDir'>): Promise<LoadedConfig> {
  const file = join(paths.configDir, 'config.toml');
  const read = (await readVersionedToml(file, CONFIG_VERSION)) ?? { version: LEGACY, table: {} };
  const { workspaces: inline, ...table } = read.table;
  const config = check(file, globalConfigSchema, table);
  const tables = await workspaceTables(paths.configDir, file, { ...read, inline });
  const workspaces = new Map<string, WorkspaceConfig>();
  const problems: LoadedConfig['problems'] = [];
  const note = (where: string, issues: ConfigIssue[]) =>
    problems.push(...issues.map((issue) => ({ file: where, reason: describeIssue(issue) })));
  note(file, literalReferences(config));
  for (const [name, source] of tables) {
    const workspace = check(source.file, workspaceConfigSchema, source.table, source.prefix);
    workspaces.set(name, workspace);
    note(source.file, [...literalReferences(workspace), ...mountIssues(workspace)]);
  }
  return { config, workspaces, problems };
}

interface WorkspaceSource {
  file: string;
  /** Where in the file the workspace lies. */
  prefix: string;
  table: TomlTable;
}

/** Files, and the `[workspaces.*]` tables older versions kept in `config.toml`. */
async function workspaceTables(
  configDir: string,
  configFile: string,
  read: VersionedTable & { inline: unknown },
): Promise<Map<string, WorkspaceSource>> {
  const directory = join(configDir, 'workspaces');
  const found = new Map<string, WorkspaceSource>();
  for (const name of await workspaceNames(directory)) {
    const file = join(directory, `${name}.toml`);
    const own = await readVersionedToml(file, WORKSPACE_VERSION);
    if (own === null) continue;
    found.set(name, { file, prefix: '', table: upgradeWorkspaceTable(own.table, own.version) });
  }
  if (read.inline === undefined) return found;
  if (!isTable(read.inline))
    throw configInvalid(configFile, [{ key: 'workspaces', reason: 'expected a table' }]);
  for (const [name, value] of Object.entries(read.inline)) {
    const prefix = `workspaces.${name}`;
    if (!isTable(value)) throw configInvalid(configFile, [{ key: prefix, reason: 'expected a table' }]);
    const table = upgradeWorkspaceTable(value, read.version);
    const own = found.get(name);
    if (own === undefined) found.set(name, { file: configFile, prefix, table });
    else if (!sameWorkspace(own.table, table)) {
      throw configInvalid(configFile, [{ key: prefix, reason: `${own.file} says something else` }]);
    }
  }
  return found;
}

async function workspaceNames(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => /^[^.].*\.toml$/.test(name))
      .map((name) => name.slice(0, -'.toml'.length))
      .sort();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw fileSystemError(error, directory, 'read');
    await refuseDanglingLink(directory);
    return [];
  }
}

function sameWorkspace(a: TomlTable, b: TomlTable): boolean {
  const plain = ({ version: _version, ...table }: TomlTable) => JSON.parse(JSON.stringify(table));
  return isDeepStrictEqual(plain(a), plain(b));
}

function check<T>(file: string, schema: z.ZodType<T>, table: TomlTable, prefix = ''): T {
  const result = schema.safeParse(table);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    key: [prefix, ...issue.path.map(String)].filter((part) => part !== '').join('.'),
    reason: issue.message,
  }));
  throw configInvalid(file, issues);
}
