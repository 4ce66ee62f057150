import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CountingProxy {
  /** Its socket. */
  path: string;
  env: { DOCKER_HOST: string };
  /** `METHOD /path` of every request so far. */
  requests: string[];
  close(): Promise<void>;
}

/** Sits in front of a real engine and writes down what it is asked. Streams that go both ways do not pass. */
export async function startCountingProxy(engineSocket: string): Promise<CountingProxy> {
  const dir = await mkdtemp(join(tmpdir(), 'jk-count-'));
  const socket = join(dir, 'd.sock');
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    const { method, url: path, headers } = request;
    const onward = send({ socketPath: engineSocket, agent: false, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('aborted', () => response.destroy());
    });
    // An engine that answers before it read all of a request closes behind its answer, which is complete then.
    onward.on('error', () => {
      if (!response.headersSent) response.destroy();
    });
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    path: socket,
    env: { DOCKER_HOST: `unix://${socket}` },
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
