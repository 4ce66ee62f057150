import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What to answer: a status and a JSON body, or the whole exchange. */
export type Answer =
  | { status?: number; body?: unknown }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface FakeEngine {
  socket: string;
  env: { DOCKER_HOST: string };
  /** `METHOD /path` of every request, without its query. */
  requests: string[];
  /** Sets or replaces an answer; the path may end in `*`. */
  on(route: string, answer: Answer): void;
  close(): Promise<void>;
}

const BRIDGE = { Id: 'b'.repeat(64), Name: 'bridge', Created: '2026-01-01T00:00:00Z', Labels: {} };

/** A scripted engine on a socket of its own, for answers a real one cannot be brought to give. Empty at first. */
export async function startFakeEngine(): Promise<FakeEngine> {
  const dir = await mkdtemp(join(tmpdir(), 'jk-fake-'));
  const socket = join(dir, 'd.sock');
  const requests: string[] = [];
  const answers = new Map<string, Answer>([
    ['GET /_ping', { body: 'OK' }],
    ['GET /info', { body: { ID: 'fake', KernelVersion: 'another', ServerVersion: '1', OSType: 'linux' } }],
    ['GET /containers/json', { body: [] }],
    ['GET /images/json', { body: [] }],
    ['GET /networks', { body: [BRIDGE] }],
    ['GET /volumes', { body: { Volumes: [] } }],
  ]);
  const connections = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    const route = `${request.method} ${(request.url ?? '').split('?')[0]}`;
    requests.push(route);
    const answer = answers.get(route) ??
      prefixed(answers, route) ?? { status: 404, body: { message: `no ${route}` } };
    request.resume();
    if (typeof answer === 'function') return answer(request, response);
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
    response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
  });
  server.on('connection', (connection) => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    socket,
    env: { DOCKER_HOST: `unix://${socket}` },
    requests,
    on: (route, answer) => void answers.set(route, answer),
    async close() {
      for (const connection of connections) connection.destroy();
      server.close();
      await once(server, 'close');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function prefixed(answers: ReadonlyMap<string, Answer>, route: string): Answer | undefined {
  for (const [known, answer] of answers) {
    if (known.endsWith('*') && route.startsWith(known.slice(0, -1))) return answer;
  }
  return undefined;
}
