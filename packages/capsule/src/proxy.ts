import { createWriteStream, fstatSync } from 'node:fs';
import { createConnection, Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { errorCode, JackinError } from '@jackin/core';
import { CONNECTED_LINE } from './protocol/index.ts';

/** @throws JackinError `USAGE` (exit code 2) */
export function parseProxyArguments(args: string[]): { socket: string } {
  try {
    const { socket } = parseArgs({ args, options: { socket: { type: 'string' } } }).values;
    if (socket !== undefined && socket !== '') return { socket };
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
  throw usage('--socket PATH is needed.');
}

export interface ProxyStreams {
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
}

/**
 * Carries bytes between stdin/stdout and the capsule's socket, for a host that cannot open the socket itself. An end of
 * stdin is passed on as a half-close; it is over when the capsule's side has ended and everything is written, or when
 * nobody reads stdout any more.
 * @throws JackinError `CAPSULE_UNREACHABLE`
 */
export function runProxy({ socket: path }: { socket: string }, io = ownStreams()): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { stdin, stdout, stderr } = io;
  const socket = createConnection({ path, allowHalfOpen: true });
  let connected = false;
  socket.once('connect', () => {
    connected = true;
    stderr.write(`${CONNECTED_LINE}\n`);
    stdin.pipe(socket);
    socket.pipe(stdout);
  });
  stdin.on('error', () => socket.end());
  stderr.on('error', () => {});
  stdout.once('finish', resolve);
  stdout.on('error', () => {
    socket.destroy();
    resolve();
  });
  socket.on('error', (error) => {
    if (!connected) reject(unreachable(path, error));
  });
  socket.once('end', () => socket.destroySoon());
  socket.once('close', () => {
    if (connected) stdout.end();
  });
  return promise;
}

/** Not `process.stdout`: it blocks the process while a pipe is full, and input has to pass then too. */
function ownStreams(): ProxyStreams {
  const target = fstatSync(1);
  const stdout =
    target.isFIFO() || target.isSocket()
      ? new Socket({ fd: 1, readable: false, writable: true })
      : createWriteStream('', { fd: 1 });
  return { stdin: process.stdin, stdout, stderr: process.stderr };
}

function unreachable(path: string, error: unknown): JackinError {
  return new JackinError({
    code: 'CAPSULE_UNREACHABLE',
    message: `No capsule can be reached at ${path} (${errorCode(error) ?? 'unknown'}).`,
    cause: error,
  });
}

function usage(message: string): JackinError {
  return new JackinError({
    code: 'USAGE',
    message,
    hint: 'Usage: capsule proxy --socket PATH',
    exitCode: 2,
  });
}
