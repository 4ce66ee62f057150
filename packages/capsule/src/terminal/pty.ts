import { readSync, writeSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { ReadStream } from 'node:tty';
import { errorCode } from '@jackin/core';
import { loadNativePty } from './native-pty.ts';

export interface PtyOptions {
  /** Absolute path. */
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  cols: number;
  rows: number;
  onOutput(bytes: Buffer): void;
  /** The process is gone; output may still follow. */
  onExit(exit: PtyExit): void;
  /** Nothing follows any more. Always called, after `onExit`. */
  onEnd(): void;
  /** Input can be taken again after {@link Pty.write} said no. */
  onWritable(): void;
}

export interface PtyExit {
  code: number | null;
  signal: string | null;
}

export interface Pty {
  readonly pid: number;
  /** Queues input; false when the program does not read and the caller should wait for `onWritable`. */
  write(bytes: Uint8Array): boolean;
  resize(cols: number, rows: number): void;
  /** Output waits in the kernel, and the program with it, until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Takes what output is there and closes the terminal, whoever else still holds it. */
  close(): void;
}

const MAX_QUEUED_BYTES = 256 * 1024;
const RETRY_MS = 5;
const READ_BYTES = 64 * 1024;

/**
 * Starts a program as session leader on a new pseudo-terminal. Unlike node-pty's JavaScript half it loses no output
 * when the program ends while reading is paused, and does not block when the program does not read its input.
 * @throws JackinError `PTY_UNAVAILABLE`; Error when the system has no terminal or process left
 */
export function openPty(options: PtyOptions): Pty {
  const { native, helper } = loadNativePty();
  const env = Object.entries(options.env).map(([name, value]) => `${name}=${value}`);
  const { file, args, cwd, cols, rows } = options;
  const { fd, pid } = native.fork(file, args, env, cwd, cols, rows, -1, -1, true, helper, (code, signal) => {
    exited = true;
    options.onExit(exitOf(code, signal));
    if (ended) options.onEnd();
  });
  const output = new ReadStream(fd);
  let exited = false;
  let ended = false;
  let queue: Buffer[] = [];
  let queuedBytes = 0;
  let retry: NodeJS.Timeout | undefined;
  let refused = false;

  function end(): void {
    if (ended) return;
    // Closing loses what was read (read() makes `data` events of it) or waits in the kernel, unless taken now.
    while (output.read() !== null);
    drain(fd, options.onOutput);
    ended = true;
    clearTimeout(retry);
    queue = [];
    if (exited) options.onEnd();
  }

  // Any way the stream is destroyed goes through here: by close(), and by Node at the end of the output (EIO).
  const destroy = output.destroy.bind(output);
  output.destroy = (error) => {
    end();
    return destroy(error);
  };
  output.on('error', () => output.destroy());
  output.on('data', (chunk: Buffer) => options.onOutput(chunk));
  output.on('end', () => output.destroy());

  function flush(): void {
    retry = undefined;
    while (!ended && queue.length > 0) {
      const first = queue[0] as Buffer;
      const written = tryWrite(fd, first);
      queuedBytes -= written;
      if (written < first.length) queue[0] = first.subarray(written);
      else queue.shift();
      if (written === 0) {
        retry = setTimeout(flush, RETRY_MS);
        return;
      }
    }
    if (refused) {
      refused = false;
      options.onWritable();
    }
  }

  return {
    pid,
    write(bytes) {
      if (ended) return true;
      queue.push(Buffer.from(bytes));
      queuedBytes += bytes.length;
      if (retry === undefined) flush();
      refused ||= queuedBytes > MAX_QUEUED_BYTES;
      return !refused;
    },
    resize(newCols, newRows) {
      if (!ended) native.resize(fd, newCols, newRows);
    },
    pause: () => void output.pause(),
    resume: () => void (ended || output.resume()),
    close: () => void output.destroy(),
  };
}

/** Bytes taken: 0 when the terminal's input is full. What a terminal that is gone cannot take is forgotten. */
function tryWrite(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return errorCode(error) === 'EAGAIN' ? 0 : bytes.length;
  }
}

/** What is there now; the descriptor does not block. */
function drain(fd: number, take: (bytes: Buffer) => void): void {
  try {
    for (;;) {
      const bytes = Buffer.allocUnsafe(READ_BYTES);
      const count = readSync(fd, bytes);
      if (count === 0) return;
      take(bytes.subarray(0, count));
    }
  } catch {
    // EAGAIN: nothing more for now. EIO: nobody holds the other side any more. EBADF: closed already.
  }
}

function exitOf(code: number, signal: number): PtyExit {
  if (signal === 0) return { code, signal: null };
  const name = Object.entries(osConstants.signals).find(([, number]) => number === signal)?.[0];
  return { code: null, signal: name ?? `SIG${signal}` };
}
