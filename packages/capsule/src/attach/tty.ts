import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { WriteStream } from 'node:tty';

/** The terminal's settings, and ways to it that share nothing with the shell. */
export interface TtyControl {
  /** A blocking descriptor, for a child process. */
  readonly fd: number;
  /** The settings in force, as `stty -g` prints them; null when they cannot be read. */
  settings(): string | null;
  /** Leaves output as it is written: Node's raw mode still turns LF into CR LF. */
  stopOutputProcessing(): void;
  /** A stream that never blocks and can be dropped with what it holds; null when there is only the shell's. */
  openDisplay(): Display | null;
  /**
   * The size now, as columns and rows; null when it cannot be asked for. Node's own streams keep the size they last
   * heard of, and a background process hears of none.
   */
  size(): [number, number] | null;
  close(): void;
}

export interface Display {
  readonly stream: WriteStream;
  readonly fd: number;
  close(): void;
}

const STTY_LIMIT_MS = 2000;
const SETTINGS = /^[\w:=.-]+$/;

/**
 * Opens the terminal behind `inherited` anew: descriptors inherited from the shell share their flags with it and
 * with every child. Where the terminal has no path or may not be opened, the inherited one has to do.
 * @param path where `stty` and `tty` are looked for, as in PATH
 */
export function openTty(inherited: number, path: string): TtyControl {
  const opened = reopen(inherited, path);
  const fd = opened ?? inherited;
  return {
    fd,
    settings() {
      const text = call('stty', ['-g'], fd, path);
      return text !== null && SETTINGS.test(text) ? text : null;
    },
    stopOutputProcessing() {
      call('stty', ['-opost'], fd, path);
    },
    openDisplay: () => (opened === null ? null : openDisplay(inherited, path)),
    size() {
      const probe = opened === null ? null : openDisplay(inherited, path);
      const { columns, rows } = probe?.stream ?? {};
      probe?.close();
      return columns === undefined || rows === undefined ? null : [columns, rows];
    },
    close() {
      if (opened !== null) closeSync(opened);
    },
  };
}

/**
 * Node makes process.stdout blocking: a terminal that stopped taking output would stop everything here, signals
 * included, and its last write could not be given up. The switch for that is on the stream's handle only; where
 * it is missing, writing blocks as usual.
 */
function openDisplay(inherited: number, path: string): Display | null {
  const fd = reopen(inherited, path);
  if (fd === null) return null;
  let stream: WriteStream & { _handle?: { setBlocking?(blocking: boolean): unknown } };
  try {
    stream = new WriteStream(fd);
  } catch {
    closeSync(fd);
    return null;
  }
  stream._handle?.setBlocking?.(false);
  return {
    stream,
    fd,
    close() {
      // The stream has a descriptor of its own by now.
      stream.destroy();
      closeSync(fd);
    },
  };
}

function reopen(inherited: number, path: string): number | null {
  const name = ttyName(inherited, path);
  if (name === null) return null;
  try {
    const fd = openSync(name, constants.O_RDWR | constants.O_NOCTTY);
    if (fstatSync(fd).rdev === fstatSync(inherited).rdev) return fd;
    closeSync(fd);
  } catch {
    // The inherited descriptor does.
  }
  return null;
}

function ttyName(fd: number, path: string): string | null {
  try {
    const name =
      process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : call('tty', [], fd, path);
    return name !== null && statSync(name).isCharacterDevice() ? name : null;
  } catch {
    return null;
  }
}

/** Runs a terminal tool on `stdin`; null when it failed or is not there. */
function call(file: string, args: string[], stdin: number, path: string): string | null {
  const done = spawnSync(file, args, {
    env: { PATH: path },
    encoding: 'utf8',
    killSignal: 'SIGKILL',
    stdio: [stdin, 'pipe', 'ignore'],
    timeout: STTY_LIMIT_MS,
  });
  return done.status === 0 ? done.stdout.trim() : null;
}
