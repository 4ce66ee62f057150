import { isDeepStrictEqual } from 'node:util';
import { isTable, type TomlEdit, type TomlPath, type TomlTable } from './types.ts';

type Container = Record<string | number, unknown>;

/** The old values with the edits, worked out without looking at the text. */
export function expectedMeaning(old: TomlTable, edits: readonly TomlEdit[]): TomlTable {
  const value = structured(old) as TomlTable;
  for (const edit of edits) {
    const parent =
      'remove' in edit ? containerOf(value, edit.path, false) : containerOf(value, edit.path, true);
    const key = edit.path.at(-1);
    if (key === undefined) throw new TypeError('an edit needs a path');
    if (parent === null) continue;
    if ('set' in edit) parent[key] = structured(edit.set);
    else if ('append' in edit) parent[key] = [...((parent[key] ?? []) as unknown[]), structured(edit.append)];
    else if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  }
  return value;
}

/**
 * Whether two documents mean the same. A table or array that a removal left empty may be gone: dotted keys and headers
 * of deeper tables have nothing else to stand on.
 */
export function sameMeaning(expected: TomlTable, actual: TomlTable, edits: readonly TomlEdit[]): boolean {
  for (const { path } of edits.filter((edit) => 'remove' in edit)) {
    for (let length = path.length - 1; length > 0; length -= 1) {
      const at = path.slice(0, length);
      const [parent, actualParent] = [containerOf(expected, at, false), containerOf(actual, at, false)];
      const key = at.at(-1) as string | number;
      if (parent === null || Array.isArray(parent)) break;
      const gone = actualParent === null || !(key in actualParent);
      if (isEmpty(parent[key]) && gone) delete parent[key];
    }
  }
  return isDeepStrictEqual(structured(expected), structured(actual));
}

function containerOf(value: TomlTable, path: TomlPath, create: boolean): Container | null {
  let at: unknown = value;
  for (const [index, part] of path.slice(0, -1).entries()) {
    const container = at as Container;
    if (container[part] === undefined && create) {
      container[part] = typeof path[index + 1] === 'number' ? [] : {};
    }
    at = container[part];
    if (at === null || typeof at !== 'object') return null;
  }
  return at as Container;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isTable(value) && Object.keys(value).length === 0;
}

/** Plain copies that compare by value: no prototypes, no `undefined`, dates as their text. */
function structured(value: unknown): unknown {
  if (value instanceof Date) return { date: value.toISOString() };
  if (Array.isArray(value)) return value.map(structured);
  if (!isTable(value)) return value;
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries(entries.map(([key, entry]) => [key, structured(entry)]));
}
