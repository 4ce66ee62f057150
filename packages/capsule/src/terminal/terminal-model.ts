import xterm, { type Terminal } from '@xterm/headless';
import { trackModes } from './mode-tracker.ts';
import { repaintOf } from './repaint.ts';
import { containFailures, stateOf } from './xterm-internals.ts';

export interface TerminalText {
  title: string;
  /** Oldest first, without trailing blanks and without the blank lines below the last one. */
  lines: string[];
}

/** What a session's screen is, kept by an emulator that sees all output. */
export interface TerminalModel {
  /** `parsed` is called when the model holds `bytes` and nothing of a later write. */
  write(bytes: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  /** See {@link repaintOf}: the state of exactly what was reported as parsed. */
  repaint(options: { alive: boolean }): Buffer;
  /** The last `maxLines` lines of scrollback and screen as plain text. */
  text(maxLines: number): TerminalText;
  dispose(): void;
}

export interface TerminalModelOptions {
  cols: number;
  rows: number;
  /** Gets the answers to the program's queries: they go to its input. */
  answer(bytes: string): void;
}

const SCROLLBACK_LINES = 2000;
/** What the emulator cannot do with less. */
const MIN_COLS = 2;

export function createTerminalModel({ cols, rows, answer }: TerminalModelOptions): TerminalModel {
  const terminal: Terminal = new xterm.Terminal({
    cols: Math.max(cols, MIN_COLS),
    rows,
    scrollback: SCROLLBACK_LINES,
    allowProposedApi: true,
    logLevel: 'off',
    windowOptions: { getWinSizeChars: true, pushTitle: true, popTitle: true },
  });
  const tracker = trackModes(terminal);
  terminal.onData(answer);
  // The oldest form of "who are you"; the emulator knows only the newer one.
  terminal.parser.registerEscHandler({ final: 'Z' }, () => {
    answer('\u001b[?1;2c');
    return true;
  });
  containFailures(terminal);

  return {
    write: (bytes, parsed) => terminal.write(bytes, parsed),
    resize: (newCols, newRows) => terminal.resize(Math.max(newCols, MIN_COLS), newRows),
    repaint: ({ alive }) => repaintOf({ terminal, tracker, alive }),
    text: (maxLines) => textOf(terminal, maxLines),
    dispose: () => terminal.dispose(),
  };
}

function textOf(terminal: Terminal, maxLines: number): TerminalText {
  const buffer = terminal.buffer.active;
  let end = buffer.length;
  while (end > 0 && buffer.getLine(end - 1)?.translateToString(true) === '') end -= 1;
  const lines: string[] = [];
  for (let y = Math.max(0, end - maxLines); y < end; y += 1) {
    lines.push(buffer.getLine(y)?.translateToString(true) ?? '');
  }
  return { title: stateOf(terminal).title, lines };
}
