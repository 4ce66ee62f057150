import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAwake, fileSystemError, identifyProcess, JackinError } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { StartContext } from '../backend.ts';
import { type CapsuleProcess, INSTANCE_VARIABLE } from './find-capsule.ts';
import { hostEnvironment } from './host-env.ts';
import type { StandaloneOptions } from './options.ts';
import { chooseSocket, prepareSocketDir } from './socket-path.ts';

const READY_MS = 15_000;
const READY_FD = 3;
const LOG_TAIL_BYTES = 4_096;

type StandaloneRecord = NonNullable<NonNullable<Manifest['backend']>['standalone']>;

/**
 * Starts the capsule as a detached process in a session of its own and resolves when it listens; an already living one
 * is left alone and its identity returned. Throws CAPSULE_START_FAILED with the tail of its log, or the signal's
 * reason; no process is left behind then.
 */
export async function startCapsule(
  context: StartContext,
  options: StandaloneOptions,
  found: CapsuleProcess,
): Promise<StandaloneRecord> {
  const choice = chooseSocket(
    join(context.dirs.sockets, 'capsule.sock'),
    context.ref.instance_id,
    options.env,
  );
  if (found.state === 'unknown') throw startFailed(context, found.reason, '');
  if (found.state === 'alive') {
    const socket = found.socket ?? context.ref.manifest.backend?.standalone?.socket ?? choice.path;
    return {
      ...found.identity,
      ...(socket === join(context.dirs.sockets, 'capsule.sock') ? {} : { socket }),
    };
  }
  await prepareSocketDir(choice);
  const logFile = join(context.dirs.data, '.jackin', 'capsule.log');
  const log = await openLog(logFile);
  try {
    const child = spawnCapsule(context, options, choice.path, log.fd);
    try {
      await ready(child, options.readyMs ?? READY_MS, context.signal);
      const identity = child.pid === undefined ? null : await identifyProcess(child.pid);
      if (identity === null) throw new Error('it ended right after it was ready');
      const message = `the capsule of ${context.ref.container_base} listens`;
      options.events({ type: 'debug', message, fields: { pid: identity.pid, socket: choice.path } });
      return { ...identity, ...(choice.short === null ? {} : { socket: choice.path }) };
    } catch (error) {
      await endChild(child);
      context.signal.throwIfAborted();
      throw startFailed(context, (error as Error).message, await tailOf(logFile), error);
    } finally {
      letGo(child);
    }
  } finally {
    await log.close();
  }
}

function spawnCapsule(
  context: StartContext,
  options: StandaloneOptions,
  socket: string,
  logFd: number,
): ChildProcess {
  const { file, args } = options.capsuleProgram;
  const { agent_config, state, home } = context.dirs;
  const own = [
    '--config',
    agent_config,
    '--state',
    state,
    '--socket',
    socket,
    '--ready-fd',
    String(READY_FD),
  ];
  return spawn(file, [...args, ...own], {
    detached: true,
    // Not the caller's directory: a capsule that lives for weeks must not keep it busy.
    cwd: '/',
    stdio: ['ignore', logFd, logFd, 'pipe'],
    env: { ...hostEnvironment(options.env), HOME: home, [INSTANCE_VARIABLE]: context.ref.instance_id },
  });
}

/** Resolves on the capsule's own word; rejects when it ends first, cannot be started, or takes too long. */
async function ready(child: ChildProcess, timeoutMs: number, signal: AbortSignal): Promise<void> {
  // Absent when the process could not even be made.
  const pipe = child.stdio?.[READY_FD] as Readable | null | undefined;
  await new Promise<void>((resolve, reject) => {
    let text = '';
    const cancel = afterAwake(timeoutMs, () => reject(new Error(`it did not listen within ${timeoutMs} ms`)));
    const settle = (act: () => void) => (): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onAbort = settle(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    pipe?.on('data', (bytes: Buffer) => {
      text += bytes.toString('utf8');
      if (text.includes('ready\n')) settle(resolve)();
    });
    pipe?.on('error', () => {});
    child.on('error', (error) => settle(() => reject(error))());
    child.on('exit', (code, exitSignal) =>
      settle(() => reject(new Error(`it ended with ${exitSignal ?? `code ${code}`} before it was ready`)))(),
    );
  });
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** From here on it lives without us. */
function letGo(child: ChildProcess): void {
  (child.stdio?.[READY_FD] as Readable | null | undefined)?.destroy();
  child.unref();
}

/** Truncated at every start; the capsule writes to it only what it cannot say over its socket. */
async function openLog(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  try {
    return await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw fileSystemError(error, path, 'write');
  }
}

async function tailOf(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - LOG_TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOG_TAIL_BYTES), 0, LOG_TAIL_BYTES, start);
    return buffer.subarray(0, bytesRead).toString('utf8').trim();
  } finally {
    await file.close();
  }
}

function startFailed(context: StartContext, reason: string, logTail: string, cause?: unknown): JackinError {
  const base = context.ref.container_base;
  const lastLine = logTail.split('\n').at(-1) ?? '';
  return new JackinError({
    code: 'CAPSULE_START_FAILED',
    message: `The capsule of ${base} could not be started: ${reason}${lastLine === '' ? '' : ` (${lastLine})`}`,
    hint: 'Run `jackin doctor`, then the same command again.',
    details: { log_tail: logTail, log: join(context.dirs.data, '.jackin', 'capsule.log') },
    ...(cause === undefined ? {} : { cause }),
  });
}
