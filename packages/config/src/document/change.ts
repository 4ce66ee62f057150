import { isDeepStrictEqual } from 'node:util';
import { insertItem, removal, removeItem } from './inline.ts';
import type { Splice } from './lines.ts';
import { keyText, literal } from './literal.ts';
import {
  insertRow,
  insertSection,
  removeSection,
  renderSection,
  sectionsOf,
  wantsHeader,
} from './section.ts';
import type { Place, Row, Section, TableNode, TomlNode, Tree } from './tree.ts';
import { isTable, isTableArray, type TomlPath, type TomlTable } from './types.ts';

/** A change of one place: what larger edits are made of. */
export type Change =
  | { path: TomlPath; replace: unknown }
  | { path: TomlPath; insert: unknown }
  | { path: TomlPath; append: unknown }
  | { path: TomlPath; remove: true; keepComment?: true };

/** Where a value lies in the text; undefined when there is none. */
export function findNode(tree: Tree, path: TomlPath): TomlNode | undefined {
  let node: TomlNode | undefined = tree.root;
  for (const part of path) node = node === undefined ? undefined : childOf(node, part);
  return node;
}

/** What to replace in the text for one change. */
export function splicesOf(tree: Tree, change: Change): Splice[] {
  const node = findNode(tree, change.path);
  if ('remove' in change)
    return node === undefined ? [] : removeNode(tree, node, change.keepComment === true);
  if ('insert' in change) return insertValue(tree, change.path, change.insert);
  if ('replace' in change) return replaceValue(node, change.replace);
  return appendValue(tree, change.path, node, change.append);
}

function childOf(node: TomlNode, part: string | number): TomlNode | undefined {
  if (node.kind === 'table') return typeof part === 'string' ? node.entries.get(part) : undefined;
  if (typeof part !== 'number') return undefined;
  if (node.kind === 'tables') return node.items[part];
  return node.kind === 'array' ? node.items[part]?.node : undefined;
}

function replaceValue(node: TomlNode | undefined, value: unknown): Splice[] {
  const span = node?.kind === 'table' ? node.inline : node;
  if (span === null || span === undefined || !('start' in span)) throw new TypeError('nothing to replace');
  return [{ start: span.start, end: span.end, text: literal(value) }];
}

function appendValue(tree: Tree, path: TomlPath, node: TomlNode | undefined, value: unknown): Splice[] {
  if (node === undefined) return insertValue(tree, path, [value]);
  if (node.kind === 'array') return insertItem(tree, node, literal(value));
  if (node.kind !== 'tables' || !isTable(value)) throw new TypeError('not an array that takes this value');
  const after = sectionsOf(node).at(-1) as Section;
  const keys = (node.items[0] as TableNode).keys;
  return insertSection(tree, after, renderSection(keys, value, tree.lines.ending(1), 'tables'));
}

function insertValue(tree: Tree, path: TomlPath, value: unknown): Splice[] {
  const depth = path.findIndex((_, index) => findNode(tree, path.slice(0, index + 1)) === undefined);
  const parent = findNode(tree, path.slice(0, depth));
  const keys = path.slice(depth);
  if (parent?.kind === 'array' || parent?.kind === 'tables') {
    const position = parent.items.length === keys[0] && keys.length === 1;
    if (position) return appendValue(tree, path.slice(0, depth), parent, value);
  }
  if (parent?.kind !== 'table' || !keys.every((key) => typeof key === 'string')) {
    throw new TypeError('a value stands where a table was expected');
  }
  if (parent.inline !== null) return insertItem(tree, parent.inline, `${keyText(keys)} = ${literal(value)}`);
  const [through] = parent.rows.slice(-1);
  if (parent.section === null && through !== undefined)
    return insertDotted(tree, parent, through, keys, value);
  if (parent.section === null || headed(parent, keys, value)) return insertHeaded(tree, parent, keys, value);
  return insertRow(tree, parent.section, `${keyText(keys)} = ${literal(value)}`);
}

/** Next to the rows that make up the table already: `a.b.c = 1`. */
function insertDotted(tree: Tree, parent: TableNode, beside: Row, keys: string[], value: unknown): Splice[] {
  const { holder } = beside;
  const row = `${keyText([...parent.keys.slice(holder.keys.length), ...keys])} = ${literal(value)}`;
  if (!('inline' in holder)) return insertRow(tree, holder, row, beside);
  if (holder.inline === null) throw new TypeError('a row without a place');
  return insertItem(tree, holder.inline, row);
}

function headed(parent: TableNode, keys: string[], value: unknown): boolean {
  if (parent.inElement) return false;
  if (keys.length > 1) return true;
  return wantsHeader(parent, value);
}

function insertHeaded(tree: Tree, parent: TableNode, keys: string[], value: unknown): Splice[] {
  const path = [...parent.keys, ...keys];
  const over = { keys: path.slice(0, -1), inElement: false };
  const eol = tree.lines.ending(1);
  const after = (sectionsOf(parent).at(-1) ?? tree.sections.at(-1)) as Section;
  if (!wantsHeader(over, value)) {
    const table: TomlTable = { [path.at(-1) as string]: value };
    return insertSection(tree, after, renderSection(over.keys, table, eol));
  }
  const rendered = isTableArray(value)
    ? value.map((element) => renderSection(path, element, eol, 'tables')).join(eol)
    : renderSection(path, value as TomlTable, eol);
  return insertSection(tree, after, rendered);
}

function removeNode(tree: Tree, node: TomlNode, keepComment: boolean): Splice[] {
  if (node.kind === 'leaf' || node.kind === 'array') return removePlace(tree, node.place, keepComment);
  if (node.kind === 'table' && node.inline !== null) {
    return removePlace(tree, node.inline.place, keepComment);
  }
  const sections = sectionsOf(node);
  const rows =
    node.kind === 'table' ? node.rows.filter(({ holder }) => !sections.includes(holder as Section)) : [];
  return [
    ...sections.map((section) => removeSection(tree, section)),
    ...rows.flatMap((row) => removePlace(tree, { row }, keepComment)),
  ];
}

function removePlace(tree: Tree, place: Place, keepComment: boolean): Splice[] {
  if ('list' in place) return removeItem(tree, place.list, place.index);
  const { row } = place;
  if ('inline' in row.holder) {
    const { inline } = row.holder;
    if (inline === null) throw new TypeError('a row without a place');
    return removeItem(
      tree,
      inline,
      inline.items.findIndex((item) => item.row === row),
    );
  }
  const { lines } = tree;
  const last = lines.of(row.end);
  const comment = lines
    .content(last)
    .slice(row.end - lines.start(last))
    .trimStart();
  const start = lines.start(lines.of(row.start));
  if (keepComment && comment !== '')
    return [removal(start, lines.end(last) - comment.length - eolLength(tree, last))];
  return [removal(start, lines.end(last))];
}

function eolLength({ lines }: Tree, line: number): number {
  return lines.end(line) - lines.start(line) - lines.content(line).length;
}

/** The changes that lead from what the text says to `value`, leaving alone what stays the same. */
export function changesTo(
  node: TomlNode | undefined,
  path: TomlPath,
  old: unknown,
  value: unknown,
): Change[] {
  if (node === undefined) return [{ path, insert: value }];
  if (isDeepStrictEqual(old, value)) return [];
  const at = (key: string | number) => ({ node: childOf(node, key), path: [...path, key] });
  if (isTable(old) && isTable(value) && Object.keys(value).length > 0) {
    const gone = Object.keys(old).filter((key) => value[key] === undefined);
    return [
      ...Object.entries(value)
        .filter(([, entry]) => entry !== undefined)
        .flatMap(([key, entry]) => changesTo(at(key).node, at(key).path, old[key], entry)),
      ...gone.map((key): Change => ({ path: at(key).path, remove: true })),
    ];
  }
  if (Array.isArray(old) && Array.isArray(value) && value.length > 0) {
    const changes = arrayChanges(node, path, old, value);
    if (changes !== null) return changes;
  }
  const written = node.kind === 'table' ? node.inline !== null : node.kind !== 'tables';
  if (written) return [{ path, replace: value }];
  return [
    { path, remove: true },
    { path, insert: value },
  ];
}

/** Element by element, so that comments of those that stay do; null when the whole has to be written anew. */
function arrayChanges(node: TomlNode, path: TomlPath, old: unknown[], value: unknown[]): Change[] | null {
  if (node.kind === 'tables' && !value.every(isTable)) return null;
  const kept = subsequence(old, value);
  if (kept !== null) {
    const gone = old.map((_, index) => index).filter((index) => !kept.has(index));
    return gone.reverse().map((index) => ({ path: [...path, index], remove: true }));
  }
  const shared = Math.min(old.length, value.length);
  const changes: Change[] = [];
  for (let index = 0; index < shared; index += 1) {
    changes.push(...changesTo(childOf(node, index), [...path, index], old[index], value[index]));
  }
  for (let index = old.length - 1; index >= shared; index -= 1) {
    changes.push({ path: [...path, index], remove: true });
  }
  return [...changes, ...value.slice(shared).map((append): Change => ({ path, append }))];
}

/** The positions in `old` of the elements of `value`, when `value` is `old` without some of its elements. */
function subsequence(old: unknown[], value: unknown[]): Set<number> | null {
  const kept = new Set<number>();
  let from = 0;
  for (const element of value) {
    const found = old.findIndex((other, index) => index >= from && isDeepStrictEqual(other, element));
    if (found === -1) return null;
    kept.add(found);
    from = found + 1;
  }
  return kept;
}
