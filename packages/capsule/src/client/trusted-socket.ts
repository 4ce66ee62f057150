import { constants, type Stats } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
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
    const held = await hold(path);
    try {
      if (!held.stats.isSocket()) throw untrusted(path, 'it is not a socket');
      for (const [name, { uid }] of [
        [dirname(path), directory],
        [path, held.stats],
      ] as const) {
        if (uid !== expectedUid)
          throw untrusted(path, `${name} belongs to user id ${uid}, not to ${expectedUid}`);
      }
      return await connect(held.address, path, signal);
    } finally {
      await held.close();
    }
  };
}

interface Held {
  stats: Stats;
  /** Where to connect: what was looked at, whatever has its name by then. */
  address: string;
  close(): Promise<void>;
}

/** Linux can hold on to what lies at a path without following it; elsewhere it can be replaced after the look. */
async function hold(path: string): Promise<Held> {
  if (process.platform !== 'linux') return { stats: await look(path), address: path, close: async () => {} };
  try {
    const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
    return {
      stats: await handle.stat(),
      address: `/proc/self/fd/${handle.fd}`,
      close: () => handle.close(),
    };
  } catch (error) {
    throw unreachable(path, error);
  }
}

/** Of Linux, on every architecture Node runs on; Node does not name it. */
const O_PATH = 0o10000000;

function connect(address: string, path: string, signal: AbortSignal): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const socket = createConnection(address);
  const abort = (): void => {
    socket.destroy();
    reject(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  socket.once('connect', () => resolve(socket));
  socket.once('error', (error) => reject(unreachable(path, error)));
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

async function look(path: string): Promise<Stats> {
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
