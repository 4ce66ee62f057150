import { JackinError } from '@jackin/core';
import { editToml, isTable, lineOf, parseToml, type TomlEdit, type TomlTable } from '../document/index.ts';
import { envReserved } from '../env/references.ts';
import { type ConfigSource, configInvalid, type FieldIssue, locate } from '../errors.ts';
import { type CrossChecks, checkGlobal, checkWorkspace } from '../schema/cross-checks.ts';
import { validGlobal, validWorkspace } from '../schema/validate.ts';
import { untrusted } from './untrust.ts';

/** A file in the newest form before an edit; `text` is empty when there is none yet. */
export interface Editable {
  kind: 'config' | 'workspace';
  text: string;
  source: ConfigSource;
}

/** Edits, or what makes them of the file as it is under the lock, in the newest form. */
export type Edits = readonly TomlEdit[] | ((current: TomlTable) => readonly TomlEdit[]);

/**
 * The text of a file with edits, which is valid by every rule or is refused (docs/configuration.md#editing). A grant
 * that is not enforced is refused where it is added, and left alone where it was.
 * @throws JackinError `CONFIG_INVALID`, `ENV_RESERVED` with every reserved name
 */
export function editedText(file: Editable, wanted: Edits): string {
  const { source } = file;
  const edits = typeof wanted === 'function' ? wanted(parseToml(file.text)) : wanted;
  refuseKeys(file, edits);
  const asked = apply(file, edits);
  const text =
    file.kind === 'config' ? apply({ ...file, text: asked }, untrusted(file.text, asked, edits)) : asked;
  if (text === file.text && text !== '') return text;
  const checks = checked({ ...file, text });
  refuseReserved(source, checks.reserved);
  const known = new Set(previously(file).map(({ path }) => path.join('.')));
  const issues = [...checks.issues, ...checks.unenforced.filter(({ path }) => !known.has(path.join('.')))];
  if (issues.length > 0) throw configInvalid(source.file, locate(source, issues));
  return text;
}

function apply(file: Editable, edits: readonly TomlEdit[]): string {
  try {
    return editToml(file.text, edits);
  } catch (error) {
    // A value where a table belongs: what is wrong with the file explains more than what cannot be done to it.
    if (error instanceof JackinError && error.code === 'TOML_EDIT_FAILED') checked(file);
    throw error;
  }
}

function checked({ kind, text, source }: Editable): CrossChecks {
  return kind === 'config'
    ? checkGlobal(validGlobal({ text, source }))
    : checkWorkspace(validWorkspace({ text, source }));
}

function previously(file: Editable): FieldIssue[] {
  if (file.text === '') return [];
  try {
    return checked(file).unenforced;
  } catch {
    return [];
  }
}

function refuseReserved(source: ConfigSource, reserved: FieldIssue[]): void {
  if (reserved.length === 0) return;
  const offenders = locate(source, reserved).map(({ key, line = null }) => {
    const where = `${source.file}${line === null ? '' : `:${line}`}, ${key}`;
    return { name: key.slice(key.lastIndexOf('.') + 1), layer: key, where, file: source.file, key, line };
  });
  throw envReserved(offenders);
}

/** What no edit may touch: what jackin keeps itself, and keys that no table can have. */
function refuseKeys({ kind, source }: Editable, edits: readonly TomlEdit[]): void {
  for (const { path } of edits) {
    const key = path.join('.');
    const refuse = (reason: string, fix: string) =>
      configInvalid(source.file, [{ key, reason, line: lineOf(source.text, path), fix }]);
    if (
      path.length === 0 ||
      path.some((part) => ['', '__proto__', 'constructor', 'prototype'].includes(String(part)))
    ) {
      throw refuse('not a key that can be set', 'Use another name.');
    }
    if (path[0] === 'version') throw refuse('jackin keeps it itself', 'Leave the version as it is.');
    if (kind === 'config' && path[0] === 'workspaces') {
      throw refuse('workspaces are files of their own', 'Edit the workspace instead.');
    }
  }
}

/** A new file with these values. */
export function editsFor(value: unknown): TomlEdit[] {
  if (!isTable(value)) return [];
  return Object.entries(value)
    .filter(([key, entry]) => key !== 'version' && entry !== undefined)
    .map(([key, entry]) => ({ path: [key], set: entry }));
}

/** Whether a text sets anything at all. */
export function isEmptyText(text: string): boolean {
  return Object.keys(parseToml(text)).length === 0;
}
