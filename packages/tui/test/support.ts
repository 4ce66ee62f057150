import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';

const FIXTURE = fileURLToPath(new URL('./fixtures/ask.ts', import.meta.url));

export interface Asked {
  answer: unknown;
  settled: { raw: boolean; listeners: number };
  exitCode: number;
  output: string;
}

/** Runs one question in a real pseudo-terminal and acts once `until` is on the screen. */
export function ask(
  question: string,
  act: { keys?: string; signal?: NodeJS.Signals },
  options: { env?: Record<string, string>; until?: RegExp } = {},
): Promise<Asked> {
  const until = options.until ?? /Choose 1-|Go ahead\?|to go ahead|Press Enter/;
  const { NO_COLOR: _noColor, ...inherited } = process.env;
  const child = pty.spawn(process.execPath, ['--conditions=@jackin/source', FIXTURE, question], {
    cols: 100,
    rows: 30,
    env: { ...inherited, TERM: 'xterm-256color', ...options.env },
  });
  return new Promise((resolve) => {
    let output = '';
    let acted = false;
    // A question that does not end fails its test instead of keeping the whole run.
    const limit = setTimeout(() => child.kill('SIGKILL'), 20_000);
    child.onData((data) => {
      output += data;
      if (acted || !until.test(output)) return;
      acted = true;
      if (act.keys !== undefined) child.write(act.keys);
      if (act.signal !== undefined) child.kill(act.signal);
    });
    child.onExit(({ exitCode }) => {
      clearTimeout(limit);
      const line = /ANSWER (\{.*\})/.exec(output)?.[1];
      const parsed = line === undefined ? { answer: undefined, settled: undefined } : JSON.parse(line);
      resolve({ ...parsed, exitCode, output });
    });
  });
}

export const CURSOR_SHOW = '\u001b[?25h';
export const CURSOR_HIDE = '\u001b[?25l';
