import { editToml } from './edit.ts';
import { splice } from './lines.ts';
import { literal } from './literal.ts';
import { BOM, withoutBom } from './parse.ts';
import { firstKeyOffset } from './section.ts';
import { treeOf } from './tree.ts';

/** Writes `version` as the first key of a text; one that stands elsewhere is moved with what follows on its line. */
export function stampVersion(text: string, version: string): string {
  const stamped = editedInPlace(text, version);
  const bare = withoutBom(stamped);
  const tree = treeOf(bare);
  const { lines } = tree;
  const rows = tree.root.section?.rows ?? [];
  const row = rows.find(({ keys }) => keys.length === 1 && keys[0] === 'version');
  const bom = bare === stamped ? '' : BOM;
  const at = firstKeyOffset(tree);
  const eol = lines.ending(1);
  if (row === undefined) {
    const gap = rows.length === 0 && bare.slice(at) !== '' ? eol : '';
    const end = bare === '' || bare.endsWith('\n') || at < bare.length;
    return `${bom}${bare.slice(0, at)}${end ? '' : eol}version = ${literal(version)}${end ? eol : ''}${gap}${bare.slice(at)}`;
  }
  if (row === rows[0]) return stamped;
  const [first, last] = [lines.start(lines.of(row.start)), lines.of(row.end)];
  const line = bare
    .slice(first, lines.end(last))
    .trimStart()
    .replace(/\r?\n$/, '');
  const moved = splice(bare, [
    { start: at, end: at, text: `${line}${lines.ending(last)}` },
    { start: first, end: lines.end(last), text: '' },
  ]);
  return bom + (bare.endsWith('\n') ? moved : moved.replace(/\r?\n$/, ''));
}

function editedInPlace(text: string, version: string): string {
  const has = treeOf(withoutBom(text)).root.entries.has('version');
  return has ? editToml(text, [{ path: ['version'], set: version }]) : text;
}
