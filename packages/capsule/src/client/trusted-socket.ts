import { lstat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { errorCode, JackinError } from '@jackin/core';

export interface TrustedSocketOptions {
  /** The user the instance runs as. */
  expectedUid: number;
}

/**
 * Opens the capsule's socket. Whoever runs in the instance can put anything in its place, a link to a socket of the
 * host included, so it is looked at first; what answers then still has to prove itself (`connectCapsule`).
 * @throws JackinError `SOCKET_UNTRUSTED` with the reason, `CAPSULE_UNREACHABLE` (details.reason: absent, refused
 * or the system's code); the signal's reason when aborted
 */
export function openTrustedSocket(
  path: string,
  { expectedUid }: TrustedSocketOptions,
): (signal: AbortSignal) => Promise<Duplex> {
  return async (signal) => {
    signal.throwIfAborted();
    const directory = await look(dirname(path));
    if (!directory.isDirectory()) throw untrusted(path, `${dirname(path)} is not a real directory`);
    const socket = await look(path);
    if (!socket.isSocket()) throw untrusted(path, 'it is not a socket');
    for (const [name, { uid }] of [
      [dirname(path), directory],
      [path, socket],
    ] as const) {
      if (uid !== expectedUid)
        throw untrusted(path, `${name} belongs to user id ${uid}, not to ${expectedUid}`);
    }
    return connect(path, signal);
  };
}

function connect(path: string, signal: AbortSignal): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const socket = createConnection(path);
  const abort = (): void => {
    socket.destroy();
    reject(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  socket.once('connect', () => resolve(socket));
  socket.once('error', (error) => reject(unreachable(path, error)));
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

async function look(path: string): ReturnType<typeof lstat> {
  try {
    return await lstat(path);
  } catch (error) {
    throw unreachable(path, error);
  }
}

function untrusted(path: string, reason: string): JackinError {
  return new JackinError({
    code: 'SOCKET_UNTRUSTED',
    message: `The socket ${path} is not trusted: ${reason}.`,
    hint: 'Something in the instance replaced it; look at it with: jackin status',
    details: { path },
  });
}

const REASONS: Record<string, string> = { ENOENT: 'absent', ENOTDIR: 'absent', ECONNREFUSED: 'refused' };

function unreachable(path: string, error: unknown): JackinError {
  const code = errorCode(error) ?? 'unknown';
  return new JackinError({
    code: 'CAPSULE_UNREACHABLE',
    message: `No capsule can be reached at ${path} (${code}).`,
    hint: 'Look at the instance with: jackin status',
    details: { path, reason: REASONS[code] ?? code },
    cause: error,
  });
}
