import type { Span, Splice } from './lines.ts';
import type { Tree } from './tree.ts';

/** What stands between brackets or braces, without what is inside its items. */
interface Inline extends Span {
  items: readonly Span[];
}

/** Adds an item at the end of `[…]` or `{…}`, written as its neighbours are. */
export function insertItem({ text, lines }: Tree, inline: Inline, item: string): Splice[] {
  const close = inline.end - 1;
  const closeLine = lines.of(close);
  const last = inline.items.at(-1);
  const breaksBefore = (at: number) => /^\s*$/.test(text.slice(lines.start(lines.of(at)), at));
  if (last === undefined) {
    const inner = text.slice(inline.start + 1, close);
    if (inner.trim() === '') {
      const padded = text[close] === '}' ? ` ${item} ` : item;
      return [{ start: inline.start + 1, end: close, text: padded }];
    }
    // Only comments: the bracket cannot be on the line of one.
    const at = lines.start(closeLine);
    const indent = /^[ \t]*/.exec(text.slice(at))?.[0] ?? '';
    return [insertion(at, `${indent}  ${item}${lines.ending(closeLine - 1)}`)];
  }
  const comma = commaAfter(text, last.end);
  const behind = comma === null ? last.end : comma + 1;
  const line = lines.of(behind);
  const rest = lines.content(line).slice(behind - lines.start(line));
  if (breaksBefore(last.start) && lines.of(last.start) !== lines.of(inline.start) && /^\s*(#|$)/.test(rest)) {
    const firstLine = lines.of(last.start);
    const indent = text.slice(lines.start(firstLine), last.start);
    return [
      ...(comma === null ? [insertion(last.end, ',')] : []),
      insertion(lines.end(line), `${indent}${item}${comma === null ? '' : ','}${lines.ending(line)}`),
    ];
  }
  return [insertion(behind, comma === null ? `, ${item}` : ` ${item},`)];
}

/** Takes an item out, with its comma; lines that held nothing else go with it. */
export function removeItem({ text, lines }: Tree, inline: Inline, index: number): Splice[] {
  const item = inline.items[index] as Span;
  const around = text.slice(inline.start + 1, item.start) + text.slice(item.end, inline.end - 1);
  if (/^[\s,]*$/.test(around)) return [removal(inline.start + 1, inline.end - 1)];
  const comma = commaAfter(text, item.end);
  const behind = comma === null ? item.end : comma + 1;
  const [first, last] = [lines.of(item.start), lines.of(behind)];
  const before = text.slice(lines.start(first), item.start);
  const after = lines.content(last).slice(behind - lines.start(last));
  if (before.trim() === '' && /^\s*(#|$)/.test(after)) {
    return [removal(lines.start(first), lines.end(last))];
  }
  const next = inline.items[index + 1];
  if (next !== undefined) {
    const sameLine = lines.of(next.start) === last;
    return [removal(item.start, sameLine ? next.start : behind)];
  }
  const previous = inline.items[index - 1];
  if (comma === null && previous !== undefined && lines.of(previous.end) === first) {
    return [removal(previous.end, item.end)];
  }
  const space = /[ \t]*$/.exec(text.slice(inline.start + 1, item.start))?.[0].length ?? 0;
  return [removal(item.start - (comma === null ? 0 : space), behind)];
}

export function insertion(at: number, text: string): Splice {
  return { start: at, end: at, text };
}

export function removal(start: number, end: number): Splice {
  return { start, end, text: '' };
}

/** The comma behind an item; comments and line ends may stand between. */
function commaAfter(text: string, from: number): number | null {
  const gap = /^(?:\s|#[^\n]*)*/.exec(text.slice(from))?.[0].length ?? 0;
  return text[from + gap] === ',' ? from + gap : null;
}
