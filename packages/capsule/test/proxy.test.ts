import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { connectCapsule } from '../src/client/index.ts';
import { startCapsule } from './support/capsule-process.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** The real program as its own process. */
function proxy(args: string[]) {
  const child = spawn(process.execPath, ['--conditions=@jackin/source', MAIN, 'proxy', ...args], {
    stdio: 'pipe',
  });
  cleanUp.push(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return { child, exited };
}

async function listening(onConnection: (socket: Socket) => void): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'jk-proxy-'));
  const server: Server = createServer({ allowHalfOpen: true }, onConnection);
  const path = join(dir, 's');
  server.listen(path);
  await once(server, 'listening');
  cleanUp.push(
    () => rm(dir, { recursive: true, force: true }),
    () => server.close(),
  );
  return path;
}

test('the handshake and a request go through the proxy', async () => {
  const capsule = await startCapsule();
  cleanUp.push(() => capsule.dispose());
  const { child, exited } = proxy(['--socket', capsule.socket]);
  const connection = await connectCapsule({
    open: async () => Duplex.from({ readable: child.stdout, writable: child.stdin }),
    instanceId: capsule.instanceId,
    capsuleKey: capsule.key,
    clientName: 'test',
    signal: AbortSignal.timeout(20_000),
  });
  expect(await connection.list()).toEqual([]);
  connection.close();
  expect(await exited).toBe(0);
});

test('it says on stderr that it is connected, and nothing but the bytes on stdout', async () => {
  const path = await listening((socket) => socket.end('bytes'));
  const { child, exited } = proxy(['--socket', path]);
  expect(await Promise.all([text(child.stderr), text(child.stdout)])).toEqual([
    'jackin capsule connected\n',
    'bytes',
  ]);
  expect(await exited).toBe(0);
});

test('an end of the input is passed on, and the answer to it still arrives whole', async () => {
  const answer = 'a'.repeat(3_000_000);
  const path = await listening((socket) => {
    void text(socket).then((asked) => socket.end(`${asked}${answer}`));
  });
  const { child, exited } = proxy(['--socket', path]);
  child.stdin.end('asked:');
  expect(await text(child.stdout)).toBe(`asked:${answer}`);
  expect(await exited).toBe(0);
});

test('input passes while nobody reads the output', async () => {
  const heard = Promise.withResolvers<string>();
  const path = await listening((socket) => {
    socket.on('error', () => {});
    socket.write('a'.repeat(3_000_000));
    socket.once('data', (bytes: Buffer) => heard.resolve(bytes.toString()));
  });
  const { child } = proxy(['--socket', path]);
  await once(child.stderr, 'data');
  child.stdin.write('stop');
  expect(await heard.promise).toBe('stop');
});

test('it ends when nobody reads its output any more', async () => {
  const closed = Promise.withResolvers<void>();
  const path = await listening((socket) => {
    socket.on('error', () => {});
    socket.once('end', () => closed.resolve());
    socket.once('data', () => socket.write('answer'));
  });
  const { child, exited } = proxy(['--socket', path]);
  child.stdout.destroy();
  child.stdin.on('error', () => {});
  child.stdin.write('question');
  expect(await exited).toBe(0);
  await closed.promise;
});

test.each([
  [['--socket', '/nowhere/capsule.sock'], 'CAPSULE_UNREACHABLE', 1],
  [[], 'USAGE', 2],
  [['--socket', '/x', '--other'], 'USAGE', 2],
])('%j is refused by name', async (args, code, exitCode) => {
  const { child, exited } = proxy(args);
  expect(await text(child.stderr)).toContain(code);
  expect(await exited).toBe(exitCode);
});

test('with --announce the program says on stderr that it listens', async () => {
  const capsule = await startCapsule({ announce: true });
  cleanUp.push(() => capsule.dispose());
  while (!capsule.stderr().includes('jackin capsule ready\n')) {
    await once(capsule.child.stderr as NodeJS.ReadableStream, 'data');
  }
  expect(capsule.child.exitCode).toBeNull();
});
