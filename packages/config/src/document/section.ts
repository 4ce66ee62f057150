import { insertion, removal } from './inline.ts';
import type { Splice } from './lines.ts';
import { keyText, literal } from './literal.ts';
import type { Section, TableNode, TomlNode, Tree } from './tree.ts';
import { isTable, isTableArray, type TomlTable } from './types.ts';

/** The values of these tables are one-line references such as `{ op = "op://…" }`. */
const OF_ONE_LINE = 'env';

/** Whether a value is written under a header of its own rather than behind a key. */
export function wantsHeader(parent: Pick<TableNode, 'keys' | 'inElement'>, value: unknown): boolean {
  if (parent.inElement || parent.keys.at(-1) === OF_ONE_LINE) return false;
  return isTable(value) || isTableArray(value);
}

/** `[keys]` with everything in it, lines ended by `eol`. */
export function renderSection(
  keys: readonly string[],
  value: TomlTable,
  eol: string,
  kind: Section['kind'] = 'table',
): string {
  const table = { keys, inElement: kind === 'tables' };
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  const below = entries.filter(([, entry]) => wantsHeader(table, entry));
  const rows = entries.filter((entry) => !below.includes(entry));
  const open = kind === 'tables' ? `[[${keyText(keys)}]]` : `[${keyText(keys)}]`;
  const own = [open, ...rows.map(([key, entry]) => `${keyText([key])} = ${literal(entry)}`)];
  const parts = below.flatMap(([key, entry]) =>
    isTableArray(entry)
      ? entry.map((element) => renderSection([...keys, key], element, eol, 'tables'))
      : [renderSection([...keys, key], entry as TomlTable, eol)],
  );
  // A header is left out where the ones below say it as well.
  const needed = rows.length > 0 || parts.length === 0 || kind === 'tables';
  return [...(needed ? [own.map((line) => line + eol).join('')] : []), ...parts].join(eol);
}

/** Adds a rendered section behind `after` and everything attached to it. */
export function insertSection(tree: Tree, after: Section, section: string): Splice[] {
  const { text, lines } = tree;
  const next = tree.sections[after.index + 1];
  if (next !== undefined) {
    const line = blockLine(tree, next.header.start);
    const dense = line > 1 && lines.content(line - 1).trim() !== '';
    return [insertion(lines.start(line), dense ? section : section + lines.ending(line))];
  }
  return [insertion(text.length, gapAtEnd(tree) + section)];
}

/** Adds `key = value` as the last row of a section. */
export function insertRow(tree: Tree, section: Section, row: string, after = section.rows.at(-1)): Splice[] {
  const { text, lines, sections } = tree;
  if (after !== undefined) {
    const line = lines.of(after.end);
    const first = lines.of(after.start);
    const indent = text.slice(lines.start(first), after.start);
    return [insertLine(tree, line, `${indent}${row}`)];
  }
  if (section.kind !== 'root') {
    const line = lines.of(section.header.start);
    const indent = text.slice(lines.start(line), section.header.start);
    return [insertLine(tree, line, `${indent}${row}`)];
  }
  const next = sections[1];
  if (next === undefined) {
    const unfinished = text !== '' && !text.endsWith('\n');
    return [
      insertion(
        text.length,
        `${unfinished ? lines.ending(lines.count) : ''}${row}${lines.ending(lines.count)}`,
      ),
    ];
  }
  return [insertion(firstKeyOffset(tree), `${row}${lines.ending(1)}${lines.ending(1)}`)];
}

/** Where the first key or header stands, together with the comments directly above it. */
export function firstKeyOffset(tree: Tree): number {
  const first = tree.root.section?.rows[0]?.start ?? tree.sections[1]?.header.start ?? tree.text.length;
  return tree.lines.start(blockLine(tree, first));
}

/** Every section at or below a node, in the order of the text. */
export function sectionsOf(node: TomlNode): Section[] {
  const found: Section[] = [];
  const visit = (at: TomlNode): void => {
    if (at.kind === 'tables') for (const item of at.items) visit(item);
    if (at.kind !== 'table') return;
    if (at.section !== null) found.push(at.section);
    for (const entry of at.entries.values()) visit(entry);
  };
  visit(node);
  return found.sort((a, b) => a.index - b.index);
}

/** Takes out a header and the lines down to its last row, and one blank line where two would meet. */
export function removeSection({ lines }: Tree, section: Section): Splice {
  const first = lines.of(section.header.start);
  const last = lines.of(section.rows.at(-1)?.end ?? section.header.start);
  const blank = (line: number) => lines.content(line).trim() === '';
  const doubled = first > 1 && blank(first - 1) && (last === lines.count || blank(last + 1));
  return removal(lines.start(doubled ? first - 1 : first), lines.end(last));
}

/** The first line of the comments directly above the line of `offset`, or that line. */
export function blockLine({ lines, comments, text }: Tree, offset: number): number {
  // By the tree: a line of a multi-line text may look like a comment.
  const alone = comments.filter(({ start }) => /^\s*$/.test(text.slice(lines.start(lines.of(start)), start)));
  const commented = new Set(alone.map(({ start }) => lines.of(start)));
  let line = lines.of(offset);
  while (commented.has(line - 1)) line -= 1;
  return line;
}

function insertLine({ lines, text }: Tree, after: number, content: string): Splice {
  const at = lines.end(after);
  const unfinished = at === text.length && !text.endsWith('\n');
  const eol = lines.ending(after);
  return insertion(at, unfinished ? `${eol}${content}` : `${content}${eol}`);
}

function gapAtEnd({ text, lines }: Tree): string {
  if (text === '') return '';
  const eol = lines.ending(lines.count);
  if (!text.endsWith('\n')) return eol + eol;
  return lines.content(lines.count - 1).trim() === '' ? '' : eol;
}
