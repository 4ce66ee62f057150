import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import pty from '@lydell/node-pty';
import headless from '@xterm/headless';
import { BIN, eventually, type Sandbox } from './sandbox.ts';

/** A person at a terminal: the real binary in a pseudo-terminal, its screen read through an emulator. */
export interface TerminalSession {
  readonly pid: number;
  readonly emulator: InstanceType<typeof headless.Terminal>;
  /** All bytes the terminal received. */
  output(): string;
  type(text: string): void;
  resize(cols: number, rows: number): void;
  /** The visible screen, one string a row, right-trimmed. */
  screen(): string[];
  waitFor(text: string | RegExp, timeoutMs?: number): Promise<void>;
  /** Exit code of jackin, once it has ended. The terminal itself stays open. */
  exited(timeoutMs?: number): Promise<number>;
  /** `stty -g` of the terminal before jackin ran, and now. */
  settings(): { before: string; after: string };
  /** Pid of jackin itself. */
  jackinPid(): number;
  /** Closes the terminal (the process group gets SIGHUP). */
  close(): void;
}

/**
 * A holder shell keeps the terminal while jackin runs and ends, so that the settings can be compared whatever killed
 * it: it notes `stty -g`, runs jackin, notes the exit code, then waits. A Ctrl-C that the terminal makes a signal is
 * jackin's: the holder lives on, as a shell at a prompt does.
 */
const HOLDER =
  'trap : INT; mkdir -p "$0"; stty -g >"$0/before"; sh -c \'echo $$ >"$0/pid"; exec "$@"\' "$0" "$@"; echo $? >"$0/code"; exec sleep 3600';

export function openTerminal(
  sandbox: Sandbox,
  args: string[],
  options: { cols?: number; rows?: number; env?: Record<string, string>; name: string },
): TerminalSession {
  const { cols = 100, rows = 30 } = options;
  const notes = join(sandbox.root, `tty-${options.name}`);
  const child = pty.spawn('/bin/sh', ['-c', HOLDER, notes, process.execPath, BIN, ...args], {
    cols,
    rows,
    cwd: sandbox.project,
    env: { ...sandbox.env, ...options.env },
  });
  const emulator = new headless.Terminal({ cols, rows, scrollback: 5000, allowProposedApi: true });
  let received = '';
  child.onData((data) => {
    received += data;
    emulator.write(data);
  });
  const note = (name: string) => {
    try {
      return readFileSync(join(notes, name), 'utf8').trim();
    } catch {
      return '';
    }
  };
  const screen = () =>
    Array.from({ length: emulator.rows }, (_, row) =>
      (
        emulator.buffer.active.getLine(emulator.buffer.active.viewportY + row)?.translateToString(true) ?? ''
      ).trimEnd(),
    );
  return {
    pid: child.pid,
    emulator,
    output: () => received,
    type: (text) => child.write(text),
    resize: (newCols, newRows) => {
      emulator.resize(newCols, newRows);
      child.resize(newCols, newRows);
    },
    screen,
    waitFor: async (text, timeoutMs) => {
      const found = () => {
        const all = screen().join('\n');
        return typeof text === 'string' ? all.includes(text) : text.test(all);
      };
      try {
        await eventually(`"${text}" on the screen`, found, timeoutMs);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n--- screen ---\n${screen().join('\n')}`);
      }
    },
    exited: async (timeoutMs) =>
      Number(await eventually('jackin ended', () => note('code') || undefined, timeoutMs)),
    settings: () => ({ before: note('before'), after: sttyOf(child) }),
    jackinPid: () => Number(note('pid')),
    close: () => child.kill('SIGHUP'),
  };
}

function sttyOf(child: pty.IPty): string {
  return execFileSync('stty', ['-g', '-F', readlinkSync(`/proc/${child.pid}/fd/0`)])
    .toString()
    .trim();
}
