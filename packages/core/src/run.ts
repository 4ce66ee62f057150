import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { afterAwake, awakeSignal } from './deadline.ts';
import { errorCode } from './file-errors.ts';

export interface RunOptions {
  /** Milliseconds until the child and its process group are ended. */
  timeoutMs: number;
  cwd?: string;
  /** Added to the environment of this process. */
  env?: Record<string, string>;
  /** Whether the child also gets the environment of this process; default true. */
  inheritEnv?: boolean;
  /** Written to the child's standard input, which is otherwise empty. */
  input?: Uint8Array;
  /** Per stream, default 10 MiB. A child that writes more is ended. */
  maxOutputBytes?: number;
  /** Ends the child like the timeout does. */
  signal?: AbortSignal;
}

export interface RunResult {
  stdout: Buffer;
  stderr: Buffer;
  /** null when it was ended by a signal or never ran. */
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  /** There is no such program. */
  notFound: boolean;
  /** An output stream reached `maxOutputBytes`; what came before is there. */
  truncated: boolean;
  /** Why the child could not be started or watched to its end; null when it ended, however. */
  failure: string | null;
}

const DEFAULT_OUTPUT_BYTES = 10 * 1024 * 1024;
const GRACE_MS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs a program with an argument array, never through a shell, and waits for its end. The outcome of the child,
 * whatever it is, comes back as a value. On timeout, abort or too much output the child's process group gets
 * SIGTERM and, a second later, SIGKILL. Descendants that made a session of their own are beyond reach, but
 * neither they nor a child the kernel does not let die keep the call from returning.
 */
export async function runProcess(file: string, args: string[], options: RunOptions): Promise<RunResult> {
  const timeoutMs = Math.min(Math.max(Math.ceil(options.timeoutMs), 1), MAX_TIMER_MS - 3 * GRACE_MS);
  const limit = awakeSignal(timeoutMs, 'timeout');
  let child: Child;
  try {
    child = spawn(file, args, limit.signal, options);
  } catch (error) {
    limit.clear();
    // Arguments no program can be given (NUL bytes). The library's message quotes them; they may be secret.
    return { ...nothingRan, failure: error instanceof TypeError ? 'invalid arguments' : String(error) };
  }
  const maxBytes = options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  const stdout = collect(child.stdout, maxBytes, () => child.kill());
  const stderr = collect(child.stderr, maxBytes, () => child.kill());
  const result = await settle(child, timeoutMs).finally(limit.clear);
  const collected = {
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    truncated: stdout.full() || stderr.full(),
  };
  if (result === null) {
    return { ...nothingRan, ...collected, timedOut: true, failure: `${file} does not end, even when killed` };
  }
  if (collected.truncated || result.isCanceled) endGroup(child.pid);
  const started = child.pid !== undefined;
  return {
    ...collected,
    exitCode: result.exitCode ?? null,
    signal: result.signal ?? null,
    timedOut: result.isCanceled && limit.signal.aborted,
    notFound:
      !started &&
      !String(result.originalMessage).includes('"cwd"') &&
      isMissing(file, result.code, options.env),
    failure: started ? null : (result.originalMessage ?? `${file} could not be started`),
  };
}

type Child = ReturnType<typeof spawn>;

function spawn(file: string, args: string[], limit: AbortSignal, options: RunOptions) {
  return execa(file, args, {
    reject: false,
    buffer: false,
    cancelSignal: options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]),
    killDescendants: true,
    forceKillAfterDelay: GRACE_MS,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
    extendEnv: options.inheritEnv ?? true,
  });
}

const nothingRan: RunResult = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  exitCode: null,
  signal: null,
  timedOut: false,
  notFound: false,
  truncated: false,
  failure: null,
};

/** A directory of PATH that may not be searched turns "no such program" into "permission denied". */
function isMissing(file: string, code: string | undefined, env: Record<string, string> | undefined): boolean {
  if (code !== 'EACCES' || file.includes(sep)) return code === 'ENOENT';
  const directories = (env?.PATH ?? process.env.PATH ?? '').split(delimiter);
  return !directories.some((directory) => existsSync(join(directory, file)));
}

/** The result, or null when the child outlives every attempt to end it (uninterruptible in the kernel). */
async function settle(child: Child, timeoutMs: number) {
  const timers: (() => void)[] = [];
  let settled = false;
  // The exit may be told after the end: a timer set then would keep this process from ending.
  const after = (ms: number, action: () => void): void => {
    if (!settled) timers.push(afterAwake(ms, action));
  };
  // A descendant that still holds the pipes would keep them open for as long as it likes.
  child.nodeChildProcess.once('exit', () =>
    after(GRACE_MS, () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }),
  );
  const gaveUp = new Promise<null>((resolve) => after(timeoutMs + 3 * GRACE_MS, () => resolve(null)));
  try {
    return await Promise.race([child, gaveUp]);
  } finally {
    settled = true;
    for (const cancel of timers) cancel();
  }
}

function collect(stream: Readable | null, maxBytes: number, onFull: () => void) {
  const chunks: Buffer[] = [];
  let total = 0;
  let full = false;
  stream?.on('data', (chunk: Buffer) => {
    if (full) return;
    chunks.push(chunk.subarray(0, maxBytes - total));
    total += chunk.length;
    full = total > maxBytes;
    if (full) onFull();
  });
  return { bytes: () => Buffer.concat(chunks), full: () => full };
}

/** What ignored SIGTERM and outlived the group's leader. */
function endGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, constants.signals.SIGKILL);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH' && errorCode(error) !== 'EPERM') throw error;
  }
}
