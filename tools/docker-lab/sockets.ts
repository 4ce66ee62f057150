import { rm, symlink } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';

export interface SilentSocket {
  socket: string;
  close(): Promise<void>;
}

/** A socket that accepts every connection, reads what is sent and never answers. */
export async function openSilentSocket(dir: string, name: string): Promise<SilentSocket> {
  const socket = join(dir, name);
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on('error', () => {}).on('close', () => connections.delete(connection));
    connection.resume();
  });
  await new Promise<void>((listening, fail) => {
    server.on('error', fail).listen(socket, listening);
  });
  server.unref();
  return {
    socket,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const connection of connections) connection.destroy();
      }),
  };
}

/** A link to a socket that is not there, as a stopped desktop engine leaves it. */
export async function makeDanglingSocket(dir: string): Promise<string> {
  const socket = join(dir, 'dangling.sock');
  await rm(socket, { force: true });
  await symlink(join(dir, 'nobody.sock'), socket);
  return socket;
}
