import { TomlDocument } from '@decimalturn/toml-patch';
import { type Lines, linesOf, type Span } from './lines.ts';

/** `key = value`, in a section or inside `{ … }`. */
export interface Row extends Span {
  keys: readonly string[];
  holder: Section | TableNode;
  valueStart: number;
}

/** What a header begins; the first one is the part before any header. */
export interface Section {
  kind: 'root' | 'table' | 'tables';
  keys: readonly string[];
  index: number;
  /** The header without the end of its line; empty for the root. */
  header: Span;
  /** The key inside the brackets. */
  headerKey: Span;
  rows: Row[];
}

/** Where a value is written that no header begins. */
export type Place = { row: Row } | { list: ArrayNode; index: number };

export interface LeafNode extends Span {
  kind: 'leaf';
  place: Place;
}

export interface ArrayNode extends Span {
  kind: 'array';
  place: Place;
  items: (Span & { node: TomlNode })[];
}

export interface TableNode {
  kind: 'table';
  keys: readonly string[];
  entries: Map<string, TomlNode>;
  /** Its own header, if it has one. */
  section: Section | null;
  /** Dotted rows that lead through it. */
  rows: Row[];
  /** `{ … }` with its rows; null when it is not written so. */
  inline: (Span & { place: Place; items: (Span & { row: Row })[] }) | null;
  /** Inside an element of an array of tables. */
  inElement: boolean;
}

export interface TablesNode {
  kind: 'tables';
  items: TableNode[];
}

export type TomlNode = LeafNode | ArrayNode | TableNode | TablesNode;

export interface Tree {
  text: string;
  lines: Lines;
  root: TableNode;
  sections: Section[];
  comments: Span[];
}

/** What the library's syntax tree says about a node; columns are counted in UTF-16 units from 0. */
interface Syntax {
  type: string;
  loc: { start: Position; end: Position };
  key: Syntax;
  value: unknown;
  item: Syntax;
  items: Syntax[];
}
interface Position {
  line: number;
  column: number;
}

/**
 * Where everything in a valid TOML text is written.
 * @param text without a byte order mark
 * @throws Error of the library for a text it does not understand
 */
export function treeOf(text: string): Tree {
  const lines = linesOf(text);
  const offset = ({ line, column }: Position) => lines.start(line) + column;
  const span = ({ loc }: Syntax): Span => ({ start: offset(loc.start), end: offset(loc.end) });
  const nothing = { start: 0, end: 0 };
  const section: Section = {
    kind: 'root',
    keys: [],
    index: 0,
    header: nothing,
    headerKey: nothing,
    rows: [],
  };
  const root = newTable([], false);
  root.section = section;
  const tree: Tree = { text, lines, root, sections: [section], comments: [] };
  const addRow = (holder: Row['holder'], table: TableNode, syntax: Syntax): Row => {
    const value = syntax.value as Syntax;
    const keys = syntax.key.value as string[];
    const row = { ...span(syntax), keys, holder, valueStart: span(value).start };
    let at = table;
    for (const key of keys.slice(0, -1)) {
      at = childTable(at, key);
      at.rows.push(row);
    }
    const key = keys.at(-1) as string;
    at.entries.set(key, nodeOf(value, { row }, [...at.keys, key], table.inElement));
    return row;
  };
  const nodeOf = (syntax: Syntax, place: Place, keys: string[], inElement: boolean): TomlNode => {
    if (syntax.type === 'InlineTable') {
      const table = newTable(keys, inElement);
      table.inline = { ...span(syntax), place, items: [] };
      for (const item of syntax.items) {
        table.inline.items.push({ ...span(item), row: addRow(table, table, item.item) });
      }
      return table;
    }
    if (syntax.type !== 'InlineArray') return { kind: 'leaf', ...span(syntax), place };
    const list: ArrayNode = { kind: 'array', ...span(syntax), place, items: [] };
    for (const [index, item] of syntax.items.entries()) {
      list.items.push({ ...span(item), node: nodeOf(item.item, { list, index }, keys, true) });
    }
    return list;
  };
  const addBlock = (syntax: Syntax, current: Section, table: TableNode): void => {
    if (syntax.type === 'Comment') tree.comments.push(span(syntax));
    else current.rows.push(addRow(current, table, syntax));
  };
  for (const block of new TomlDocument(text).cst as unknown as Syntax[]) {
    if (block.type !== 'Table' && block.type !== 'TableArray') {
      addBlock(block, section, root);
      continue;
    }
    const kind = block.type === 'Table' ? 'table' : 'tables';
    const keys = block.key.item.value as string[];
    const [header, headerKey] = [span(block.key), span(block.key.item)];
    const begun: Section = { kind, keys, index: tree.sections.length, header, headerKey, rows: [] };
    const table = headerTable(root, keys, kind);
    table.section = begun;
    tree.sections.push(begun);
    for (const item of block.items) addBlock(item, begun, table);
  }
  return tree;
}

function newTable(keys: readonly string[], inElement: boolean): TableNode {
  return { kind: 'table', keys, entries: new Map(), section: null, rows: [], inline: null, inElement };
}

/** The table under a key; of an array of tables its last element, as headers and dotted keys mean it. */
function childTable(table: TableNode, key: string): TableNode {
  const known = table.entries.get(key);
  if (known?.kind === 'table') return known;
  if (known?.kind === 'tables') return known.items.at(-1) as TableNode;
  const made = newTable([...table.keys, key], table.inElement);
  table.entries.set(key, made);
  return made;
}

function headerTable(root: TableNode, keys: readonly string[], kind: 'table' | 'tables'): TableNode {
  let parent = root;
  for (const key of keys.slice(0, -1)) parent = childTable(parent, key);
  const key = keys.at(-1) as string;
  if (kind === 'table') return childTable(parent, key);
  const known = parent.entries.get(key);
  const element = newTable(keys, true);
  if (known?.kind === 'tables') known.items.push(element);
  else parent.entries.set(key, { kind: 'tables', items: [element] });
  return element;
}
