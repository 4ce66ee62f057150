import { isDeepStrictEqual } from 'node:util';
import xterm, { type IBuffer, type Terminal } from '@xterm/headless';
import {
  type Attributes,
  attributesOf,
  BG_FLAGS,
  containFailures,
  FG_FLAGS,
  stateOf,
} from '../../src/terminal/xterm-internals.ts';

/** A terminal emulator of its own, as a client would have one. It answers nothing. */
export function createEmulator(cols: number, rows: number, scrollback: number = 2000): Terminal {
  const terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' });
  containFailures(terminal);
  return terminal;
}

export function feed(terminal: Terminal, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => terminal.write(bytes, resolve));
}

/** The screen as text, one string per row, without trailing blanks. */
export function screenOf(terminal: Terminal): string[] {
  const { active } = terminal.buffer;
  return Array.from(
    { length: terminal.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
  );
}

/**
 * Every difference between two terminals that somebody could see or a program could run into. A `left` that was
 * in use before may have older lines in its scrollback.
 */
export function differences(left: Terminal, right: Terminal, { usedBefore = false } = {}): string[] {
  const found: string[] = [];
  const check = (what: string, a: unknown, b: unknown): void => {
    if (!isDeepStrictEqual(a, b)) found.push(`${what}: ${JSON.stringify(a)} ≠ ${JSON.stringify(b)}`);
  };
  check('size', [left.cols, left.rows], [right.cols, right.rows]);
  check('screen', left.buffer.active.type, right.buffer.active.type);
  if (!usedBefore) check('scrollback', left.buffer.normal.length, right.buffer.normal.length);
  const screens =
    left.buffer.active.type === 'alternate' ? (['normal', 'alternate'] as const) : (['normal'] as const);
  for (const name of screens) {
    const [mine, theirs] = [left.buffer[name], right.buffer[name]];
    for (let y = 0; y < theirs.length; y += 1) {
      const older = mine.length - theirs.length;
      check(`${name} row ${y}`, rowOf(left, mine, y + older, y === 0), rowOf(right, theirs, y, y === 0));
    }
  }
  check(
    'modes',
    { ...left.modes, synchronizedOutputMode: false },
    { ...right.modes, synchronizedOutputMode: false },
  );
  check('state', summary(left), summary(right));
  return found;
}

function rowOf(terminal: Terminal, buffer: IBuffer, y: number, oldest: boolean): unknown {
  const line = buffer.getLine(y);
  if (line === undefined) return null;
  const cells: string[] = [];
  for (let x = 0; x < line.length; x += 1) {
    const cell = line.getCell(x);
    if (cell === undefined) continue;
    // An empty cell and a blank look the same, and so does half a wide character that was overwritten.
    const half = cell.getWidth() === 0 && line.getCell(x - 1)?.getWidth() !== 2;
    cells.push(
      `${cell.getChars() || ' '}/${half ? 1 : cell.getWidth()}/${look(terminal, attributesOf(cell))}`,
    );
  }
  // What wraps into the oldest line is no longer there.
  return { cells, wrapped: !oldest && line.isWrapped };
}

function summary(terminal: Terminal): unknown {
  const state = stateOf(terminal);
  const { active } = terminal.buffer;
  const buffer = active.type === 'alternate' ? state.alternate : state.normal;
  const saved = state.normal;
  return {
    cursor: [buffer.x, buffer.y],
    region: [buffer.scrollTop, buffer.scrollBottom],
    saved: [saved.savedX, Math.min(Math.max(saved.savedY - saved.ybase, 0), terminal.rows - 1)],
    savedPen: [color(saved.savedCurAttrData.fg), color(saved.savedCurAttrData.bg) & ~BG_FLAGS.hasExtended],
    tabs: Object.keys(buffer.tabs).filter(
      (column) => Number(column) < terminal.cols && buffer.tabs[Number(column)],
    ),
    pen: look(terminal, state.pen),
    cursorHidden: state.cursorHidden,
    cursorStyle: [state.cursorStyle, state.cursorBlinks],
    mouseEncoding: state.mouseEncoding,
    charsetLevel: state.charsetLevel,
    title: state.title,
  };
}

function look(terminal: Terminal, { fg, bg, extended }: Attributes): string {
  const extends_ = (bg & BG_FLAGS.hasExtended) !== 0;
  // The emulator forgets where a link leads when the line it began in is erased.
  const link = extends_ ? stateOf(terminal).linkOf(extended._urlId)?.uri : undefined;
  return `${color(fg)}/${color(bg & ~BG_FLAGS.hasExtended)}/${extends_ && (fg & FG_FLAGS.underline) !== 0 ? extended._ext : 0}/${link ?? ''}`;
}

/** Under a palette colour the emulator leaves what an earlier RGB colour had in the upper bits. */
function color(value: number): number {
  const mode = value & 0x3000000;
  return mode === 0x3000000 || mode === 0 ? value : value & ~0xffff00;
}
