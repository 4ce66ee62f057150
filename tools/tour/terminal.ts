import { spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';
import { TourFailure } from './check.ts';
import type { Scratch } from './scratch.ts';

const SIZE = { cols: 80, rows: 24 };
const PATIENCE_MS = 15_000;
const DETACH_KEYS = '\x02d';

/** A person at a terminal: `jackin hardline ID` in a real pseudo-terminal, its screen read by an emulator. */
export interface TourTerminal {
  /** Types a line and waits until `answer` stands on a line of its own and the prompt is back. */
  type(line: string, answer: string): Promise<void>;
  /** Presses Ctrl-B d and waits for the command to end. Returns its exit code. */
  detach(): Promise<number>;
  /** The screen's lines that hold text. */
  screen(): string[];
}

/** Runs `jackin ARGS` in a pseudo-terminal and waits for a prompt. When `signal` aborts it is hung up. */
export async function openTerminal(options: {
  cli: string;
  args: string[];
  scratch: Scratch;
  signal: AbortSignal;
}): Promise<TourTerminal> {
  const { signal, scratch } = options;
  signal.throwIfAborted();
  const emulator = new headless.Terminal({ ...SIZE, allowProposedApi: true });
  const pty = spawn(process.execPath, [options.cli, ...options.args], {
    ...SIZE,
    cwd: scratch.project,
    env: scratch.env,
  });
  const changes = new EventTarget();
  const changed = () => changes.dispatchEvent(new Event('change'));
  let exitCode: number | null = null;
  pty.onData((data) => emulator.write(data, changed));
  pty.onExit((exit) => {
    exitCode = exit.exitCode;
    changed();
  });
  signal.addEventListener('abort', () => exitCode === null && pty.kill('SIGHUP'), { once: true });

  const screen = () =>
    Array.from({ length: emulator.rows }, (_, row) =>
      (emulator.buffer.active.getLine(row)?.translateToString(true) ?? '').trimEnd(),
    ).filter((line) => line !== '');

  const until = (what: string, holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        changes.removeEventListener('change', look);
        signal.removeEventListener('abort', stop);
        settle();
      };
      const look = () => {
        if (holds()) done(resolve);
        else if (exitCode !== null) fail(`the terminal ended with ${exitCode} before ${what}`);
      };
      const fail = (problem: string) =>
        done(() => reject(new TourFailure(`${problem}; the screen:\n  ${screen().join('\n  ')}`)));
      const stop = () => done(() => reject(signal.reason));
      const timer = setTimeout(() => fail(`no ${what} within ${PATIENCE_MS / 1000} s`), PATIENCE_MS);
      changes.addEventListener('change', look);
      signal.addEventListener('abort', stop);
      look();
    });

  const atPrompt = () => /[$#%>]$/.test(screen().at(-1) ?? '');

  await until('prompt of the shell', atPrompt);
  return {
    screen,
    type: async (line, answer) => {
      pty.write(`${line}\r`);
      await until(`answer ${JSON.stringify(answer)}`, () => screen().includes(answer) && atPrompt());
    },
    detach: async () => {
      pty.write(DETACH_KEYS);
      await until('end of the command', () => exitCode !== null);
      return exitCode ?? -1;
    },
  };
}
