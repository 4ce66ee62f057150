import type { IBuffer, IBufferCell, IBufferLine } from '@xterm/headless';
import { hasFlags, type Pen, sameAttributes } from './pen.ts';
import { attributesOf, COLOR_BITS } from './xterm-internals.ts';

export interface RowsOptions {
  buffer: IBuffer;
  /** First and last row, counted from the oldest line of the scrollback. */
  from: number;
  to: number;
  cols: number;
  rows: number;
  pen: Pen;
}

/** How a row continues on the next one. */
type Wrap = 'none' | 'by_next_character' | 'after_last_column' | 'forced';

/**
 * The rows of a buffer as text that, written from the first column of blank rows, makes the same cells and the
 * same soft line ends. Ends in the last row with a default pen.
 */
export function paintRows({ buffer, from, to, cols, rows, pen }: RowsOptions): string {
  let text = '';
  let startsDirty = false;
  for (let y = from; y <= to; y += 1) {
    const line = buffer.getLine(y);
    if (line === undefined) break;
    const next = y < to ? buffer.getLine(y + 1) : undefined;
    const wrap = next?.isWrapped === true && rows > 1 ? wrapOf(line, next, cols) : 'none';
    text += paintRow(line, { cols, pen, wrap, dirty: startsDirty });
    startsDirty = false;
    if (next === undefined) break;
    if (wrap === 'none') {
      text += `${pen.toDefault()}\r\n`;
    } else if (wrap === 'by_next_character') {
      // The row that scrolls in takes the background of the character that wraps.
      const first = next.getCell(0);
      if (first !== undefined) text += pen.to(attributesOf(first));
      startsDirty = !pen.blank;
    } else {
      text += pen.toDefault() + forceWrap(line, wrap, cols, pen);
    }
  }
  return text + pen.toDefault();
}

interface RowOptions {
  cols: number;
  pen: Pen;
  wrap: Wrap;
  /** The row did not start blank. */
  dirty: boolean;
}

function paintRow(line: IBufferLine, { cols, pen, wrap, dirty }: RowOptions): string {
  let text = '';
  let cursor = 0;
  const moveTo = (column: number): string => (cursor === column ? '' : `\u001b[${column + 1}G`);
  // The last cell is made by the wide character that does not fit into it.
  const leftToWrap = wrap === 'by_next_character' && isEmpty(line, cols - 1);
  const end = leftToWrap ? cols - 1 : cols;
  let x = 0;
  while (x < end) {
    const cell = line.getCell(x);
    if (cell === undefined) break;
    if (cell.getChars() !== '') {
      text += moveTo(x) + pen.to(attributesOf(cell)) + cell.getChars();
      x += Math.max(cell.getWidth(), 1);
      cursor = x;
      continue;
    }
    const attributes = attributesOf(cell);
    let runEnd = x + 1;
    while (runEnd < end && isEmptyLike(line, runEnd, cell)) runEnd += 1;
    const count = runEnd - x;
    if (hasFlags(attributes)) {
      text += moveTo(x) + pen.to(attributes) + ' '.repeat(count);
      cursor = runEnd;
    } else if (dirty || (attributes.bg & COLOR_BITS) !== 0) {
      text += `${moveTo(x)}${pen.to(attributes)}\u001b[${count}X`;
      cursor = x;
    }
    x = runEnd;
  }
  if (leftToWrap) text += moveTo(cols - 1);
  return text;
}

function wrapOf(line: IBufferLine, next: IBufferLine, cols: number): Wrap {
  const last = line.getCell(cols - 1);
  const first = next.getCell(0);
  if (!isEmpty(line, cols - 1)) return isEmpty(next, 0) ? 'after_last_column' : 'by_next_character';
  const wideMovedOn =
    last !== undefined &&
    first !== undefined &&
    first.getWidth() === 2 &&
    sameAttributes(attributesOf(last), attributesOf(first));
  return wideMovedOn ? 'by_next_character' : 'forced';
}

/** Only a character that does not fit makes a soft line end: one is written and erased again. */
function forceWrap(line: IBufferLine, wrap: Wrap, cols: number, pen: Pen): string {
  if (wrap === 'after_last_column') return 'x\u001b[G\u001b[X';
  let text = `\u001b[${cols}Gxx\u001b[G\u001b[X\u001b[A\u001b[${cols}G`;
  const last = line.getCell(cols - 1);
  if (last !== undefined) {
    const attributes = attributesOf(last);
    text += pen.to(attributes) + (hasFlags(attributes) ? ' ' : '\u001b[X');
  }
  return `${text}${pen.toDefault()}\u001b[B\u001b[G`;
}

/** Nothing is written there; half a wide character that was overwritten counts as nothing. */
function isEmpty(line: IBufferLine, x: number): boolean {
  const cell = line.getCell(x);
  if (cell === undefined) return true;
  if (cell.getChars() !== '') return false;
  return cell.getWidth() === 1 || x === 0 || line.getCell(x - 1)?.getWidth() !== 2;
}

function isEmptyLike(line: IBufferLine, x: number, first: IBufferCell): boolean {
  const cell = line.getCell(x);
  return cell !== undefined && isEmpty(line, x) && sameAttributes(attributesOf(cell), attributesOf(first));
}
