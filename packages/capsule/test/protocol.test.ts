import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CapsuleMessage,
  createFrameDecoder,
  encodeMessage,
  encodeTerminal,
  FRAME_JSON,
  PROTOCOL_MAX,
  parseCapsuleMessage,
} from '../src/protocol/index.ts';
import { type CapsuleProcess, plan, startCapsule } from './support/capsule-process.ts';

let capsule: CapsuleProcess;
beforeAll(async () => {
  capsule = await startCapsule();
  // Without a session, somebody's session keeps running through everything below.
  await (await capsule.connect()).startSession(plan('while :; do read x; done', { session_id: 'survivor' }));
});
afterAll(() => capsule.dispose());

interface Raw {
  socket: Socket;
  send(...frames: Uint8Array[]): void;
  json(value: unknown): void;
  next(): Promise<CapsuleMessage>;
  ended: Promise<unknown>;
}

/** A client without any manners. */
async function raw(): Promise<Raw> {
  const socket = createConnection(capsule.socket);
  const decoder = createFrameDecoder();
  const waiting: ((message: CapsuleMessage) => void)[] = [];
  const come: CapsuleMessage[] = [];
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    for (const { kind, payload } of decoder.push(chunk)) {
      const message = kind === FRAME_JSON ? parseCapsuleMessage(payload) : null;
      if (message === null) continue;
      const waiter = waiting.shift();
      if (waiter === undefined) come.push(message);
      else waiter(message);
    }
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  return {
    socket,
    ended,
    send: (...frames) => void socket.write(Buffer.concat(frames)),
    json: (value) => void socket.write(encodeMessage(value as CapsuleMessage)),
    next: () =>
      new Promise((resolve) => {
        const message = come.shift();
        if (message === undefined) waiting.push(resolve);
        else resolve(message);
      }),
  };
}

const HELLO = {
  type: 'hello',
  protocol: { min: 1, max: PROTOCOL_MAX },
  client: { name: 'raw', version: '1' },
  nonce: '0123456789abcdef',
};

async function welcomed(): Promise<Raw> {
  const client = await raw();
  client.json(HELLO);
  expect(await client.next()).toMatchObject({ type: 'welcome' });
  return client;
}

async function survives(): Promise<void> {
  const client = await capsule.connect();
  expect((await client.list())[0]).toMatchObject({ session_id: 'survivor', alive: true });
  client.close();
}

describe('the handshake', () => {
  test('proves to hold the key, and chooses the highest version both know', async () => {
    const client = await raw();
    client.json({ ...HELLO, protocol: { min: 1, max: 99 }, colour: 'red' });
    const proof = createHmac('sha256', capsule.key).update(HELLO.nonce).digest('hex');
    expect(await client.next()).toMatchObject({
      type: 'welcome',
      protocol: PROTOCOL_MAX,
      instance_id: capsule.instanceId,
      proof,
      pid: capsule.child.pid,
    });
    client.socket.destroy();
  });

  test('comes first: nothing before it is answered', async () => {
    const client = await raw();
    client.json({ type: 'list', request_id: 1 });
    client.json({ type: 'start_session', request_id: 2, session: plan('exit 0') });
    client.send(...encodeTerminal(Buffer.from('typed')));
    client.json(HELLO);
    client.json({ type: 'ping', request_id: 3 });
    expect(await client.next()).toMatchObject({ type: 'welcome' });
    expect(await client.next()).toEqual({ type: 'reply', request_id: 3, data: null });
    client.socket.destroy();
    await survives();
  });

  test('refuses a client without a version in common and names both ranges', async () => {
    const client = await raw();
    client.json({ ...HELLO, protocol: { min: 7, max: 9 } });
    const failure = await client.next();
    expect(failure).toMatchObject({
      type: 'failure',
      request_id: null,
      error: { code: 'PROTOCOL_UNSUPPORTED' },
    });
    expect(failure).toMatchObject({ error: { message: expect.stringContaining('7 to 9') } });
    await client.ended;
  });

  test('does not wait for ever', async () => {
    const client = await raw();
    expect(await client.next()).toMatchObject({ type: 'failure', error: { code: 'HELLO_TIMEOUT' } });
    await client.ended;
  });

  test('happens once', async () => {
    const client = await welcomed();
    client.json(HELLO);
    expect(await client.next()).toMatchObject({ type: 'failure', error: { code: 'BAD_MESSAGE' } });
    await client.ended;
  });
});

describe('a connection', () => {
  test('ignores messages and frames of the future', async () => {
    const client = await welcomed();
    client.json({ type: 'teleport', request_id: 1, to: 'mars' });
    client.send(Buffer.from([0, 0, 0, 3, 99, 1, 2]));
    client.json({ type: 'resize', cols: 10, rows: 10 });
    client.json({ type: 'ping', request_id: 2 });
    expect(await client.next()).toEqual({ type: 'reply', request_id: 2, data: null });
    client.socket.destroy();
  });

  test.each([
    ['a frame of length 0', Buffer.alloc(4), 'BAD_FRAME'],
    ['a frame of a gigabyte', Buffer.from([0x40, 0, 0, 0, 0]), 'BAD_FRAME'],
    [
      'text that is not JSON',
      Buffer.concat([Buffer.from([0, 0, 0, 4, FRAME_JSON]), Buffer.from('{]}')]),
      'BAD_JSON',
    ],
    ['a message that is not valid', encodeMessage({ type: 'attach', request_id: 1 } as never), 'BAD_MESSAGE'],
    ['a request id that is none', encodeMessage({ type: 'ping', request_id: -1 }), 'BAD_MESSAGE'],
  ])('ends with %s, alone', async (_, bytes, code) => {
    const client = await welcomed();
    client.send(bytes);
    expect(await client.next()).toMatchObject({ type: 'failure', request_id: null, error: { code } });
    await client.ended;
    await survives();
  });

  test('may send noise, or end in the middle of anything', async () => {
    for (const bytes of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from([0, 0]),
      Buffer.from([0, 0, 1, 0, 1, 9]),
    ]) {
      const client = await raw();
      client.send(bytes);
      client.socket.end();
      await client.ended;
    }
    await survives();
  });

  test('that never reads its answers is given up, and takes nobody else their turn', async () => {
    const other = await capsule.connect();
    const big = plan('i=0; while [ $i -lt 2500 ]; do i=$((i+1)); printf "%079d\\n" $i; done', {
      session_id: 'big',
    });
    const ended = new Promise<void>((resolve) => {
      other.onMessage(({ type }) => type === 'session_ended' && resolve());
    });
    await other.startSession(big);
    await ended;
    const client = await welcomed();
    client.socket.pause();
    const ask = encodeMessage({ type: 'snapshot', request_id: 2, session_id: 'big', lines: 10_000 });
    const flood = Buffer.concat(Array.from({ length: 2000 }, () => ask));
    let turns = 0;
    while (!client.socket.destroyed) {
      client.socket.write(flood);
      await Promise.race([other.ping(), client.ended]);
      turns += 1;
    }
    expect(turns).toBeGreaterThan(1);
    other.close();
    await survives();
  }, 120_000);

  test('that floods with requests gets its answers in order', async () => {
    const client = await welcomed();
    const count = 5000;
    client.send(
      ...Array.from({ length: count }, (_, request_id) => encodeMessage({ type: 'ping', request_id })),
    );
    for (let request_id = 0; request_id < count; request_id += 1) {
      expect(await client.next()).toMatchObject({ type: 'reply', request_id });
    }
    client.socket.destroy();
  });

  test('is one of a bounded number', async () => {
    const clients = await Promise.all(Array.from({ length: 64 }, () => raw()));
    for (const client of clients) client.json(HELLO);
    const answers = await Promise.all(clients.map((client) => client.next()));
    expect(answers.filter(({ type }) => type === 'welcome').length).toBeLessThan(64);
    expect(answers.find(({ type }) => type === 'failure')).toMatchObject({
      error: { code: 'TOO_MANY_CONNECTIONS' },
    });
    for (const client of clients) client.socket.destroy();
    await Promise.all(clients.map(({ ended }) => ended));
    // The capsule sees their ends in its own time.
    for (;;) {
      const next = await raw();
      next.json(HELLO);
      const { type } = await next.next();
      next.socket.destroy();
      if (type === 'welcome') break;
    }
    await survives();
  });

  test.each([
    ['a session that exists', plan('', { session_id: 'survivor' }), 'SESSION_EXISTS'],
    ['the name of the waiting screen', plan('', { session_id: 'waiting' }), 'SESSION_EXISTS'],
    ['a program that is not there', plan('', { argv: ['no-such-agent'] }), 'COMMAND_NOT_FOUND'],
    ['a program that cannot be executed', plan('', { argv: ['/etc/passwd'] }), 'COMMAND_NOT_FOUND'],
    ['a directory that is not there', plan('', { cwd: '/no/such/dir' }), 'WORKDIR_NOT_FOUND'],
    ['a variable that cannot be one', plan('', { env: { 'A=B': 'x' } }), 'SESSION_PLAN_INVALID'],
    ['an argument that cannot be one', plan('', { argv: ['/bin/sh', 'a\0b'] }), 'SESSION_PLAN_INVALID'],
  ])('gets a named failure for %s and goes on', async (_, session, code) => {
    const client = await capsule.connect();
    await expect(client.startSession(session)).rejects.toMatchObject({ code });
    await client.ping();
    client.close();
    await survives();
  });
});
