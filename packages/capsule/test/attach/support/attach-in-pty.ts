import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type IPty, spawn } from '@lydell/node-pty';
import { createEmulator, type Emulator } from './emulator.ts';
import { CAPSULE_KEY, INSTANCE_ID } from './fake-capsule.ts';
import { createUntil, type Until } from './until.ts';

// The shell stays when the program is gone, so that the terminal can still be looked at, as an operator's would.
const SHELL =
  'eval "$JOB_CONTROL"; (eval "$SHELL_FIRST"; exec "$@"); printf "left with %s\\n" "$?"; read -r answer; printf "got %s\\n" "$answer"';
const PROGRAM = fileURLToPath(new URL('../fixtures/attach-program.ts', import.meta.url));

export interface Report {
  pid?: number;
  outcome?: { kind: string; [key: string]: unknown };
  stdin?: unknown;
  signalsAsBefore?: boolean;
  error?: { code: string | null; message: string };
  answer?: string;
  event?: { type: string; code?: string };
}

/** The attach program in a pseudo-terminal that is emulated, with what it reports. */
export interface AttachInPty extends AsyncDisposable {
  readonly emulator: Emulator;
  readonly pty: IPty;
  readonly reports: Report[];
  /** Everything the terminal was sent. */
  readonly output: Buffer;
  readonly until: Until['until'];
  /** `stty -g` of the terminal now. */
  settings(): string;
  /** Changes the terminal's settings, as a shell would. */
  stty(...args: string[]): void;
  /** Waits for a report and returns it. */
  report<K extends keyof Report>(key: K): Promise<NonNullable<Report[K]>>;
  screen(text: string | RegExp): Promise<string>;
  resize(cols: number, rows: number): void;
  /** The terminal's window is closed. */
  hangUp(): void;
}

export interface AttachInPtyOptions {
  dir: string;
  socket: string;
  cols?: number;
  rows?: number;
  env?: Record<string, string>;
  /** What the shell does before it starts the program. */
  shellFirst?: string;
  /** The program gets a process group of its own, as from an interactive shell. */
  jobControl?: boolean;
}

export async function startAttachInPty(options: AttachInPtyOptions): Promise<AttachInPty> {
  const { cols = 80, rows = 24 } = options;
  const emulator = createEmulator(cols, rows);
  const reports: Report[] = [];
  const chunks: Buffer[] = [];
  const { changed, until } = createUntil(() => `${emulator.text()}\n${JSON.stringify(reports)}`);
  const reporting = await listenForReports(join(options.dir, 'report.sock'), (report) => {
    reports.push(report);
    changed();
  });
  const program = [process.execPath, '--conditions=@jackin/source', PROGRAM];
  const pty = spawn('/bin/sh', ['-c', SHELL, 'sh', ...program], {
    cols,
    rows,
    encoding: null,
    env: {
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      REPORT: reporting.path,
      SOCKET: options.socket,
      INSTANCE: INSTANCE_ID,
      CAPSULE_KEY,
      SHELL_FIRST: options.shellFirst ?? '',
      JOB_CONTROL: options.jobControl ? 'set -m' : '',
      ...options.env,
    },
  });
  // With encoding null the data is a Buffer, whatever the types say.
  pty.onData((data) => {
    const chunk = data as unknown as Buffer;
    chunks.push(chunk);
    void emulator.write(chunk).then(changed);
  });
  const exited = new Promise<void>((resolve) => {
    pty.onExit(() => resolve());
  });
  let slave: number | null = openSync(slaveOf(pty), constants.O_RDWR | constants.O_NOCTTY);

  return {
    emulator,
    pty,
    reports,
    get output() {
      return Buffer.concat(chunks);
    },
    until,
    settings: () => stty(slave, '-g'),
    stty: (...args) => void stty(slave, ...args),
    report: (key) =>
      until(
        `a report of ${key}`,
        () => reports.findLast((report) => report[key] !== undefined)?.[key],
      ) as never,
    screen: (text) =>
      until(`${text} on the screen`, () => {
        const shown = emulator.text();
        return (typeof text === 'string' ? shown.includes(text) : text.test(shown)) && shown;
      }),
    resize(toCols, toRows) {
      emulator.terminal.resize(toCols, toRows);
      pty.resize(toCols, toRows);
    },
    hangUp() {
      (pty as unknown as { destroy(): void }).destroy();
    },
    async [Symbol.asyncDispose]() {
      if (slave !== null) closeSync(slave);
      slave = null;
      if (!Buffer.concat(chunks).includes('left with')) for (const { pid } of reports) if (pid) kill(pid);
      kill(pty.pid);
      // A paused one never sees the end.
      pty.resume();
      await exited;
      reporting.close();
      emulator.terminal.dispose();
    },
  };
}

function stty(terminal: number | null, ...args: string[]): string {
  const done = spawnSync('stty', args, { stdio: [terminal, 'pipe', 'pipe'], encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`stty ${args.join(' ')}: ${done.stderr}`);
  return done.stdout.trim();
}

function slaveOf(pty: IPty): string {
  return (pty as unknown as { ptsName: string }).ptsName;
}

/** Ends a process this test started; it may have ended by itself. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function listenForReports(path: string, onReport: (report: Report) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let pending = '';
    sockets.add(socket);
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.on('data', (text: string) => {
      const lines = (pending + text).split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) onReport(JSON.parse(line));
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
