import { chmodSync, lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { errorCode, JackinError } from '@jackin/core';

const PROBE_LIMIT_MS = 2000;

/**
 * Listens on a Unix socket (0600); closing the server removes the file. What lies at `path` before is removed
 * unless a living process answers there.
 * @throws JackinError `CAPSULE_RUNNING`, `SOCKET_UNAVAILABLE`
 */
export async function bindSocket(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  await clear(path);
  const server = createServer(onConnection);
  await listen(server, path);
  return server;
}

function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error) => reject(unavailable(path, error)));
  // Closed to others from the first moment; the sessions keep the mask they are given.
  const mask = process.umask(0o177);
  try {
    server.listen(path, () => {
      server.removeAllListeners('error');
      server.on('error', () => {});
      resolve();
    });
  } finally {
    process.umask(mask);
  }
  return promise.then(() => chmodSync(path, 0o600));
}

async function clear(path: string): Promise<void> {
  const before = look(path);
  if (before === null) return;
  if (before.isSocket() && (await answers(path))) throw running(path);
  // Two starting at once: taken aside, it shows whether it is still what was asked.
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (lstatSync(aside).ino !== before.ino) {
      renameSync(aside, path);
      throw running(path);
    }
    unlinkSync(aside);
  } catch (error) {
    if (error instanceof JackinError) throw error;
    if (errorCode(error) !== 'ENOENT') throw unavailable(path, error);
  }
}

function answers(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(path);
  socket.setTimeout(PROBE_LIMIT_MS, () => resolve(true));
  socket.once('connect', () => resolve(true));
  // Nobody listens any more; anything else is no proof of that.
  socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '')));
  return promise.finally(() => socket.destroy());
}

function look(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw unavailable(path, error);
  }
}

function running(path: string): JackinError {
  return new JackinError({ code: 'CAPSULE_RUNNING', message: `A capsule answers on ${path} already.` });
}

function unavailable(path: string, error: unknown): JackinError {
  const long =
    Buffer.byteLength(path) > 103 ? ' Its path is longer than the 103 bytes a socket can have.' : '';
  return new JackinError({
    code: 'SOCKET_UNAVAILABLE',
    message: `The socket ${path} cannot be opened: ${error instanceof Error ? error.message : String(error)}.${long}`,
    cause: error,
  });
}
