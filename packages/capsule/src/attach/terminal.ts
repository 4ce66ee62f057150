import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import type { EventSink } from '@jackin/core';
import { within } from './bounded.ts';
import { startGuard } from './guard.ts';
import { createOutput, type Output } from './output.ts';
import { FRESH_LINE, RESET_SEQUENCE, RESTORE_TITLE, SAVE_TITLE } from './sequences.ts';
import { type Display, openTty, type TtyControl } from './tty.ts';

export interface Size {
  cols: number;
  rows: number;
}

/** process.stdin and process.stdout, when they are a terminal. */
export type TerminalInput = ReadStream & { readonly fd: number };
export type TerminalOutput = WriteStream & { readonly fd: number };

export interface TerminalStreams {
  stdin: TerminalInput;
  stdout: TerminalOutput;
  /** PATH finds stty; COLUMNS and LINES serve where the terminal does not know its size. */
  env: Readonly<Record<string, string | undefined>>;
  events: EventSink;
}

/** The operator's terminal while a session has it. */
export interface Terminal {
  readonly output: Output;
  size(): Size;
  /** Gives the terminal back before this process stops (SIGTSTP). Never waits. */
  suspend(): void;
  /** Takes it again, whatever a shell did with it meanwhile. */
  resume(): void;
  /**
   * Restores settings and modes. `show: 'all'` first lets the terminal catch up with what the session wrote,
   * bounded; `'nothing'` drops it.
   */
  leave(show: 'all' | 'nothing'): Promise<void>;
}

const LEAVE_SEQUENCE = RESET_SEQUENCE + RESTORE_TITLE + FRESH_LINE;
const SHOW_LIMIT_MS = 3000;
const RESTORE_LIMIT_MS = 1000;
const MAX_CELLS = 2000;

/** Puts the terminal into raw mode with everything in place to undo it on every way out (docs/attach.md). */
export async function enterTerminal(streams: TerminalStreams, onGone: () => void): Promise<Terminal> {
  const { stdin, stdout } = streams;
  const path = streams.env.PATH || '/usr/bin:/bin';
  const ignore = (): void => {};
  const gone = (): void => onGone();
  stdin.on('error', ignore);
  stdout.on('error', gone);
  stdin.setRawMode(false);
  const control = openTty(stdin.fd, path);
  const saved = control.settings();
  const guard = saved === null ? null : await startGuard(control.fd, saved, path);
  if (guard === null) noticeWithoutGuard(streams.events);
  const display = control.openDisplay() ?? { stream: stdout, fd: stdout.fd, close: () => {} };
  const output = createOutput(display.stream, gone);
  const size = (): Size => sizeOf(control.size() ?? stdout.getWindowSize(), streams.env);
  let left = false;

  /** For `exit` handlers: process.exit() or an uncaught exception while attached. */
  const restoreAtExit = (): void => {
    const written = output.pendingBytes === 0 && writeNow(display, LEAVE_SEQUENCE);
    stdin.setRawMode(false);
    // Otherwise the guard finds the end of its pipe and does it once the terminal takes it.
    if (written) guard?.dismiss();
  };

  process.on('exit', restoreAtExit);
  raw(stdin, control);
  const working = control.settings();
  if (working !== null) guard?.workingSettings(working);
  output.write(Buffer.from(SAVE_TITLE + scrollAway(size())));

  return {
    output,
    size,
    suspend() {
      if (left) return;
      output.discard();
      writeNow(display, LEAVE_SEQUENCE);
      stdin.setRawMode(false);
    },
    resume() {
      if (left) return;
      // Node believes the terminal is raw after a stop it did not see, and would change nothing.
      stdin.setRawMode(false);
      raw(stdin, control);
      output.write(Buffer.from(SAVE_TITLE + scrollAway(size())));
    },
    async leave(show) {
      left = true;
      // Mouse and focus reports still on their way must not end up in the shell.
      stdin.on('data', ignore).resume();
      if (show === 'all') await output.flush(SHOW_LIMIT_MS);
      const restored = await within(output.last(Buffer.from(LEAVE_SEQUENCE)), RESTORE_LIMIT_MS);
      stdin.off('data', ignore).pause();
      stdin.setRawMode(false);
      process.off('exit', restoreAtExit);
      display.close();
      if (restored) guard?.dismiss();
      // The terminal takes nothing now: it gets its reset when it does.
      else guard?.takeOver();
      if (restored) await guard?.gone(RESTORE_LIMIT_MS);
      if (!output.broken) {
        stdin.off('error', ignore);
        stdout.off('error', gone);
      }
      control.close();
    },
  };
}

function raw(stdin: ReadStream, control: TtyControl): void {
  stdin.setRawMode(true);
  control.stopOutputProcessing();
}

function writeNow({ fd }: Display, text: string): boolean {
  try {
    return writeSync(fd, text) === Buffer.byteLength(text);
  } catch {
    return false;
  }
}

/** Moves what the screen shows into the terminal's own history, so that the first paint covers nothing. */
function scrollAway({ rows }: Size): string {
  return `${'\r\n'.repeat(rows)}\u001b[H`;
}

function sizeOf([cols, rows]: [number, number], env: TerminalStreams['env']): Size {
  return { cols: cells(cols, env.COLUMNS, 80), rows: cells(rows, env.LINES, 24) };
}

/** Some terminals (serial lines, a fresh pty) say 0: then the environment, then the classic size. */
function cells(measured: number, named: string | undefined, fallback: number): number {
  const value = [measured, Number(named)].find((candidate) => Number.isInteger(candidate) && candidate > 0);
  return Math.min(value ?? fallback, MAX_CELLS);
}

function noticeWithoutGuard(events: EventSink): void {
  events({
    type: 'notice',
    level: 'warn',
    code: 'ATTACH_WITHOUT_GUARD',
    message:
      'The terminal cannot be restored if jackin itself is killed (sh and stty are needed for that); if it happens, type: reset',
  });
}
