import { JackinError } from '@jackin/core';
import { findNode } from './change.ts';
import { editToml } from './edit.ts';
import { splice } from './lines.ts';
import { keyText } from './literal.ts';
import { BOM, parseToml, withoutBom } from './parse.ts';
import { blockLine, sectionsOf } from './section.ts';
import { type Section, type Tree, treeOf } from './tree.ts';
import { isTable, type TomlTable } from './types.ts';

/**
 * Takes the table at `path` out of a text, as a text of its own with its comments, and what is left.
 * @throws JackinError `TOML_EDIT_FAILED` when there is no table at `path`
 */
export function extractTable(text: string, path: readonly string[]): { rest: string; table: string } {
  const value = path.reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), parseToml(text));
  if (!isTable(value)) throw noTable(path);
  const bare = withoutBom(text);
  const tree = treeOf(bare);
  const node = findNode(tree, path);
  const rest = editToml(text, [{ path, remove: true }]);
  const sections = node === undefined ? [] : sectionsOf(node);
  const plain = node?.kind === 'table' && node.inline === null && node.rows.length === 0;
  if (!plain) return { rest, table: rendered(value, text, rest) };
  const parts = sections.map((section) => partOf(tree, section, path.length));
  const left = splice(
    bare,
    sections.map((section) => ({ ...extent(tree, section), text: '' })),
  );
  // The table's own rows have no header any more, so they come first.
  const own = node.section === null ? -1 : sections.indexOf(node.section);
  const ordered = own <= 0 ? parts : [parts[own], ...parts.filter((_, index) => index !== own)];
  return {
    rest: (bare === text ? '' : BOM) + trimEnd(left),
    table: trimEnd(ordered.join('')).replace(/^(\s*\r?\n)+/, ''),
  };
}

/** For a table that is not made of headers only. The comments that went with it are put above. */
function rendered(value: TomlTable, text: string, rest: string): string {
  const left = commentsOf(rest);
  const gone = commentsOf(text).filter((comment) => {
    const at = left.indexOf(comment);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const edits = Object.entries(value).map(([key, set]) => ({ path: [key], set }));
  return editToml(gone.map((comment) => comment + eol).join(''), edits);
}

function commentsOf(text: string): string[] {
  const bare = withoutBom(text);
  return treeOf(bare).comments.map(({ start, end }) => bare.slice(start, end));
}

/** From the comments directly above a header to those directly above the next one. */
function extent(tree: Tree, section: Section) {
  const next = tree.sections[section.index + 1];
  return {
    start: tree.lines.start(blockLine(tree, section.header.start)),
    end: next === undefined ? tree.text.length : tree.lines.start(blockLine(tree, next.header.start)),
  };
}

function partOf(tree: Tree, section: Section, depth: number): string {
  const { start, end } = extent(tree, section);
  const { header, headerKey } = section;
  const part = tree.text.slice(start, end);
  const finished = part.endsWith('\n') ? part : part + tree.lines.ending(1);
  if (section.keys.length === depth) {
    const line = tree.lines.of(header.start);
    const comment = tree.text.slice(header.end, tree.lines.end(line)).trimStart();
    const before = finished.slice(0, tree.lines.start(line) - start);
    return before + comment + finished.slice(tree.lines.end(line) - start);
  }
  const key = keyText(section.keys.slice(depth));
  return finished.slice(0, headerKey.start - start) + key + finished.slice(headerKey.end - start);
}

/** Nothing but one end of line at the end. */
function trimEnd(text: string): string {
  return text.replace(/(\r?\n)(\s*\r?\n)+$/, '$1');
}

function noTable(path: readonly string[]): JackinError {
  return new JackinError({
    code: 'TOML_EDIT_FAILED',
    message: `There is no table ${path.join('.')} to take out.`,
    hint: 'Change it in an editor. Nothing was changed.',
    details: { paths: [path.join('.')] },
  });
}
