import type { IBuffer, Terminal } from '@xterm/headless';
import type { ModeTracker } from './mode-tracker.ts';
import { createPen, DEFAULT_ATTRIBUTES, type Pen, printable } from './pen.ts';
import { paintRows } from './repaint-rows.ts';
import { attributesOf, type BufferState, stateOf, type TerminalState } from './xterm-internals.ts';

export interface RepaintOptions {
  terminal: Terminal;
  tracker: ModeTracker;
  /** False: only what is to be seen; no mode is armed for a program that is gone. */
  alive: boolean;
}

/** A repaint larger than this takes fewer lines of the scrollback with it. */
export const MAX_REPAINT_BYTES = 4 * 1024 * 1024;
const MAX_TITLE_LENGTH = 1024;
const CSI = '\u001b[';

/**
 * What brings any terminal of the model's size to the model's state, made from the model: reset, scrollback,
 * screen, alternate screen, cursor, modes, title (README, "Repaint"). Never a replay of output.
 */
export function repaintOf(options: RepaintOptions): Buffer {
  const { normal } = options.terminal.buffer;
  let scrollback = normal.length - options.terminal.rows;
  for (;;) {
    const bytes = Buffer.from(paint(options, scrollback));
    if (bytes.length <= MAX_REPAINT_BYTES || scrollback === 0) return bytes;
    scrollback = Math.floor(scrollback / 2);
  }
}

/** A repaint for a client that attaches before there is anything to show. */
export function repaintOfText(lines: string[]): Buffer {
  return Buffer.from(RESET + lines.map(printable).join('\r\n'));
}

/** Leaves every mode and the other screen; the terminal's own scrollback stays. */
const RESET: string = [
  `${CSI}?1049l`,
  `${CSI}!p`,
  ...[1, 9, 45, 66, 1000, 1001, 1002, 1003, 1004, 1006, 1016, 2004].map((mode) => `${CSI}?${mode}l`),
  `${CSI}?7h${CSI}?25h${CSI}4l${CSI}20l${CSI}r${CSI}0 q`,
  `\u001b(B\u001b)B\u000f\u001b]8;;\u001b\\${CSI}0m`,
  `${CSI}H${CSI}2J`,
].join('');

function paint({ terminal, tracker, alive }: RepaintOptions, scrollback: number): string {
  const state = stateOf(terminal);
  const { cols, rows, buffer } = terminal;
  const pen = createPen(state.linkOf);
  const size = { cols, rows, pen };
  const last = buffer.normal.length - 1;
  const onAlternate = buffer.active.type === 'alternate';
  let text = tracker.disarm() + RESET;
  text += paintRows({ ...size, buffer: buffer.normal, from: last + 1 - rows - scrollback, to: last });
  if (!alive) {
    if (onAlternate) text += `\r\n${paintRows({ ...size, buffer: buffer.alternate, from: 0, to: rows - 1 })}`;
    return `${text}${endedCursor(terminal)}${titleOf(state)}`;
  }
  if (onAlternate) {
    text += tracker.armOtherScreen() + savedPosition({ terminal, pen }, buffer.normal, state.normal);
    // Switching saves the cursor; the alternate screen it fills with the colour in force is cleared afterwards.
    text += `${CSI}?1049h${pen.toDefault()}${CSI}H${CSI}2J`;
    text += paintRows({ ...size, buffer: buffer.alternate, from: 0, to: rows - 1 });
  }
  const active = onAlternate ? state.alternate : state.normal;
  // Where both screens share one saved cursor, an unused one of this screen must not replace the other's.
  if (!onAlternate || hasSavedPosition(active)) {
    text += `${savedPosition({ terminal, pen }, buffer.active, active)}\u001b7${pen.toDefault()}`;
  }
  return text + cursorOf({ terminal, pen }, active) + pen.to(state.pen) + modesOf(terminal, state, tracker);
}

interface Screen {
  terminal: Terminal;
  pen: Pen;
}

/** The saved cursor with its attributes; the caller saves. */
function savedPosition({ terminal, pen }: Screen, content: IBuffer, state: BufferState): string {
  const row = Math.min(Math.max(state.savedY - state.ybase, 0), terminal.rows - 1);
  const { fg, bg } = state.savedCurAttrData;
  const text = positionOf({ content, line: state.ybase + row, column: state.savedX, shownRow: row, pen });
  return text + pen.to({ ...DEFAULT_ATTRIBUTES, fg, bg });
}

interface Position {
  content: IBuffer;
  /** Counted from the oldest line. */
  line: number;
  column: number;
  /** The row to name: counted from the origin in force. */
  shownRow: number;
  pen: Pen;
}

function positionOf({ content, line, column, shownRow, pen }: Position): string {
  const cells = content.getLine(line);
  const cols = cells?.length ?? 0;
  const at = (x: number): string => `${CSI}${shownRow + 1};${x + 1}H`;
  if (cells === undefined || column < cols) return at(column);
  // Behind the last column, where the next character wraps: only writing the last one brings it there.
  const lead = cells.getCell(cols - 1)?.getWidth() === 0 ? cols - 2 : cols - 1;
  const cell = cells.getCell(lead);
  return cell === undefined ? at(cols - 1) : at(lead) + pen.to(attributesOf(cell)) + (cell.getChars() || ' ');
}

function hasSavedPosition({ savedX, savedY, savedCurAttrData: { fg, bg } }: BufferState): boolean {
  return savedX !== 0 || savedY !== 0 || fg !== 0 || bg !== 0;
}

/** Tab stops, scroll region, origin mode and position: each of them moves the cursor, so the position is last. */
function cursorOf({ terminal, pen }: Screen, active: BufferState): string {
  const { cols, rows, buffer, modes } = terminal;
  let text = tabStops(active, cols);
  if (active.scrollTop !== 0 || active.scrollBottom !== rows - 1) {
    text += `${CSI}${active.scrollTop + 1};${active.scrollBottom + 1}r`;
  }
  if (modes.originMode) text += `${CSI}?6h`;
  const shownRow = active.y - (modes.originMode ? active.scrollTop : 0);
  const line = active.ybase + active.y;
  return text + positionOf({ content: buffer.active, line, column: active.x, shownRow, pen });
}

function tabStops(buffer: BufferState, cols: number): string {
  const stops = Array.from({ length: cols }, (_, column) => column).filter((column) => buffer.tabs[column]);
  return `${CSI}3g${stops.map((column) => `${CSI}${column + 1}G\u001bH`).join('')}`;
}

const MOUSE_TRACKING = { x10: 9, vt200: 1000, drag: 1002, any: 1003 } as const;
const MOUSE_ENCODING = { DEFAULT: null, SGR: 1006, SGR_PIXELS: 1016 } as const;

function modesOf(terminal: Terminal, state: TerminalState, tracker: ModeTracker): string {
  const { modes, options } = terminal;
  const on = (mode: number, set: boolean): string => (set ? `${CSI}?${mode}h` : '');
  let text = '';
  for (const [slot, charset] of tracker.charsets.entries()) {
    if (charset !== 'B') text += `\u001b${'()*+'[slot]}${charset}`;
  }
  text += ['', '\u000e', '\u001bn', '\u001bo'][state.charsetLevel] ?? '';
  text += on(1, modes.applicationCursorKeysMode) + on(66, modes.applicationKeypadMode);
  text += on(45, modes.reverseWraparoundMode) + on(1004, modes.sendFocusMode);
  text += on(2004, modes.bracketedPasteMode) + on(12, options.cursorBlink === true);
  if (modes.mouseTrackingMode !== 'none') text += on(MOUSE_TRACKING[modes.mouseTrackingMode], true);
  const encoding = MOUSE_ENCODING[state.mouseEncoding];
  if (encoding !== null) text += on(encoding, true);
  text += tracker.arm() + cursorStyle(state) + titleOf(state);
  if (options.convertEol === true) text += `${CSI}20h`;
  if (modes.insertMode) text += `${CSI}4h`;
  if (!modes.wraparoundMode) text += `${CSI}?7l`;
  return state.cursorHidden ? `${text}${CSI}?25l` : text;
}

function cursorStyle({ cursorStyle: style, cursorBlinks }: TerminalState): string {
  if (style === undefined) return '';
  const steady = { block: 2, underline: 4, bar: 6 }[style];
  return `${CSI}${cursorBlinks === true ? steady - 1 : steady} q`;
}

function titleOf({ title, iconName }: TerminalState): string {
  const osc = (id: number, text: string): string =>
    text === '' ? '' : `\u001b]${id};${printable(text.slice(0, MAX_TITLE_LENGTH))}\u001b\\`;
  return osc(1, iconName) + osc(2, title);
}

/** Below the last line that shows anything, where a shell would write next. */
function endedCursor(terminal: Terminal): string {
  const { buffer, rows } = terminal;
  const { active } = buffer;
  if (active.type === 'normal')
    return `${CSI}${active.cursorY + 1};${Math.min(active.cursorX, terminal.cols - 1) + 1}H`;
  return `${CSI}${rows};1H`;
}
