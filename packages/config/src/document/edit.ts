import { JackinError } from '@jackin/core';
import { type Change, changesTo, findNode, splicesOf } from './change.ts';
import { splice } from './lines.ts';
import { BOM, parseToml, withoutBom } from './parse.ts';
import { sectionsOf } from './section.ts';
import { type TomlNode, type Tree, treeOf } from './tree.ts';
import type { TomlEdit, TomlPath } from './types.ts';
import { expectedMeaning, sameMeaning } from './verify.ts';

/**
 * Changes a TOML text and nothing else of it: every byte no edit names stays, with comments, order, spacing, line ends,
 * byte order mark and the absence of a final newline. The result is parsed again and must mean exactly the old values
 * with the edits.
 * @param text valid TOML
 * @throws JackinError `TOML_EDIT_FAILED` when an edit does not fit the text: a fault of the caller
 */
export function editToml(text: string, edits: readonly TomlEdit[]): string {
  try {
    let result = text;
    for (const edit of edits) result = applyEdit(result, edit);
    if (result === text) return text;
    const expected = expectedMeaning(parseToml(text), edits);
    if (sameMeaning(expected, parseToml(result), edits)) return result;
  } catch (cause) {
    throw editFailed(edits, cause);
  }
  throw editFailed(edits, new Error('the text would mean something else than was asked for'));
}

/**
 * The line, from 1, on which the key or element at `path` is written; the header's line for a table that has one.
 * Null when there is no such key, or the text is not TOML.
 */
export function lineOf(text: string, path: TomlPath): number | null {
  let tree: Tree;
  try {
    tree = treeOf(withoutBom(text));
  } catch {
    return null;
  }
  const node = path.length === 0 ? undefined : findNode(tree, path);
  const offset = node === undefined ? undefined : offsetOf(node);
  return offset === undefined ? null : tree.lines.of(offset);
}

function applyEdit(text: string, edit: TomlEdit): string {
  const value = parseToml(text);
  const changes: Change[] =
    'set' in edit
      ? changesTo(
          findNode(treeOf(withoutBom(text)), edit.path),
          edit.path,
          valueAt(value, edit.path),
          edit.set,
        )
      : [edit];
  return changes.reduce(applyChange, text);
}

function applyChange(text: string, change: Change): string {
  const bare = withoutBom(text);
  const changed = splice(bare, splicesOf(treeOf(bare), change));
  const bom = bare === text ? '' : BOM;
  return bom + (bare === '' ? changed : sameEnd(bare, changed));
}

/** A text without a final newline stays one, and one with it, too. */
function sameEnd(before: string, after: string): string {
  const had = before.endsWith('\n');
  if (had === after.endsWith('\n') || after === '') return after;
  return had ? after + (/\r?\n/.exec(before)?.[0] ?? '') : after.replace(/\r?\n$/, '');
}

function valueAt(value: unknown, path: TomlPath): unknown {
  return path.reduce<unknown>(
    (at, part) => (at as Record<string | number, unknown> | undefined)?.[part],
    value,
  );
}

function offsetOf(node: TomlNode): number | undefined {
  if (node.kind === 'tables') return offsetOf(node.items[0] as TomlNode);
  const place = node.kind === 'table' ? node.inline?.place : node.place;
  if (place !== undefined) return 'row' in place ? place.row.start : place.list.items[place.index]?.start;
  if (node.kind !== 'table') return undefined;
  return node.section?.header.start ?? node.rows[0]?.start ?? sectionsOf(node)[0]?.header.start;
}

function editFailed(edits: readonly TomlEdit[], cause: unknown): JackinError {
  const paths = edits.map(({ path }) => path.join('.'));
  return new JackinError({
    code: 'TOML_EDIT_FAILED',
    message: `Cannot change ${paths.join(', ')} without touching something else of the file: ${cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)}.`,
    hint: 'Change it in an editor. Nothing was changed.',
    details: { paths },
    cause,
  });
}
