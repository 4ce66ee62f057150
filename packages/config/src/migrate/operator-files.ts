import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorCode, fileSystemError, refuseDanglingLink } from '@jackin/core';
import { editToml, extractTable, isTable, lineOf, parseToml, stampVersion } from '../document/index.ts';
import { type ConfigSource, configInvalid } from '../errors.ts';
import { readTomlText } from '../toml-file.ts';
import { LEGACY } from '../version.ts';
import { workspaceNameFault } from '../workspace-name.ts';
import { migrateText } from './migrate-text.ts';

/** One file as it is and as it would be in the newest form. */
export interface OperatorFile {
  kind: 'config' | 'workspace';
  /** Of the workspace; null for `config.toml`. */
  name: string | null;
  file: string;
  /** As it is on the disk; null for a workspace that is still a table of `config.toml`. */
  original: string | null;
  /** In the newest form. */
  text: string;
  from: string;
  to: string;
  source: ConfigSource;
}

export interface OperatorFiles {
  config: OperatorFile | null;
  workspaces: Map<string, OperatorFile>;
}

/** Of the time when workspaces were tables of `config.toml`: which workspace version belongs to which of that file. */
const WORKSPACE_OF_CONFIG: Readonly<Record<string, string>> = {
  v1alpha9: 'v1alpha8',
  v1alpha10: 'v1alpha9',
};

/**
 * Reads `config.toml` and workspaces of every version and brings them to the newest one in memory; `[workspaces.*]`
 * tables come out as files of their own (docs/schema-timeline.md#workspaces-in-config-toml). Writes nothing.
 * @param only the workspaces to read, besides those still in `config.toml`; default: all
 * @throws JackinError what a file is refused for; `CONFIG_INVALID` when a table contradicts the file of its name
 */
export async function readOperatorFiles(configDir: string, only?: readonly string[]): Promise<OperatorFiles> {
  const directory = join(configDir, 'workspaces');
  const config = await readFile('config', null, join(configDir, 'config.toml'));
  const inline = config === null ? {} : parseToml(config.text).workspaces;
  const wanted = (name: string) =>
    only === undefined || only.includes(name) || (isTable(inline) && Object.hasOwn(inline, name));
  const workspaces = new Map<string, OperatorFile>();
  for (const name of (await workspaceNames(directory)).filter(wanted)) {
    const own = await readFile('workspace', name, join(directory, `${name}.toml`));
    if (own !== null) workspaces.set(name, own);
  }
  if (config !== null) splitOff(config, workspaces, directory);
  return { config, workspaces: new Map([...workspaces].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

async function readFile(
  kind: OperatorFile['kind'],
  name: string | null,
  file: string,
): Promise<OperatorFile | null> {
  const original = await readTomlText(file);
  if (original === null) return null;
  const { text, from, to } = migrateText(kind, original, file);
  return { kind, name, file, original, text, from, to, source: { file, text: original, prefix: [] } };
}

/** Moves the `[workspaces.*]` tables of `config` to `workspaces`. */
function splitOff(config: OperatorFile, workspaces: OperatorFiles['workspaces'], directory: string): void {
  const tables = parseToml(config.text).workspaces;
  if (tables === undefined) return;
  const original = config.source.text;
  const refuse = (path: string[], reason: string, fix: string) =>
    configInvalid(config.file, [{ key: path.join('.'), reason, line: lineOf(original, path), fix }]);
  if (!isTable(tables)) {
    throw refuse(['workspaces'], 'expected a table', 'Write each workspace as [workspaces.<name>].');
  }
  for (const [name, value] of Object.entries(tables)) {
    const prefix = ['workspaces', name];
    if (!isTable(value)) throw refuse(prefix, 'expected a table', `Write it as [${prefix.join('.')}].`);
    const fault = workspaceNameFault(name);
    if (fault !== null)
      throw refuse(prefix, `${JSON.stringify(name)} ${fault}`, 'Give the workspace another name.');
    const { rest, table } = extractTable(config.text, prefix);
    config.text = rest;
    const split = fromTable(config, name, table, directory);
    const own = workspaces.get(name);
    if (own === undefined) workspaces.set(name, split);
    else if (!sameMeaning(own.text, split.text)) {
      const fix = `Keep one of the two: remove [workspaces.${name}] here, or that file.`;
      throw refuse(prefix, `${own.file} says something else`, fix);
    }
  }
  config.text = editToml(config.text, [{ path: ['workspaces'], remove: true, keepComment: true }]);
}

function fromTable(config: OperatorFile, name: string, table: string, directory: string): OperatorFile {
  const source = { file: config.file, text: config.source.text, prefix: ['workspaces', name] };
  const file = join(directory, `${name}.toml`);
  const stamped = parseToml(table).version !== undefined || config.from === LEGACY;
  const text = stamped ? table : stampVersion(table, WORKSPACE_OF_CONFIG[config.from] ?? config.from);
  const migrated = migrateText('workspace', text, config.file);
  return {
    kind: 'workspace',
    name,
    file,
    original: null,
    text: migrated.text,
    from: migrated.from,
    to: migrated.to,
    source,
  };
}

/** The names of the files in a directory of workspaces, sorted. */
export async function workspaceNames(directory: string): Promise<string[]> {
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

function sameMeaning(a: string, b: string): boolean {
  const plain = (text: string) => {
    const { version: _version, ...table } = parseToml(text);
    return table;
  };
  return isDeepStrictEqual(plain(a), plain(b));
}
