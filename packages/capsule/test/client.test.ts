import { type Duplex, duplexPair } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { connectCapsule } from '../src/client/index.ts';
import {
  type CapsuleMessage,
  type ClientMessage,
  capsuleProof,
  createFrameDecoder,
  encodeMessage,
  encodeTerminal,
  FRAME_JSON,
  FRAME_TERMINAL,
  MAX_FRAME_BYTES,
  parseClientMessage,
} from '../src/protocol/index.ts';
import { rejected } from './support/rejected.ts';

const KEY = 'k'.repeat(64);
const ID = 'abc12345';

interface Peer {
  stream: Duplex;
  say(message: unknown): void;
  /** What the client typed. */
  typed: string[];
  received: ClientMessage[];
}

type Answer = (peer: Peer, message: ClientMessage) => void;

/** The capsule's side, in the same process, doing exactly what a test says. */
function capsuleSide(stream: Duplex, answer: Answer): Peer {
  const decoder = createFrameDecoder();
  const peer: Peer = {
    stream,
    say: (message) => void stream.write(encodeMessage(message as CapsuleMessage)),
    typed: [],
    received: [],
  };
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    for (const { kind, payload } of decoder.push(chunk)) {
      if (kind === FRAME_TERMINAL) peer.typed.push(payload.toString());
      const message = kind === FRAME_JSON ? parseClientMessage(payload) : null;
      if (message === null) continue;
      peer.received.push(message);
      answer(peer, message);
    }
  });
  return peer;
}

function welcome(
  nonce: string,
  more: Partial<Extract<CapsuleMessage, { type: 'welcome' }>> = {},
): CapsuleMessage {
  const proof = capsuleProof(KEY, nonce);
  return {
    type: 'welcome',
    protocol: 1,
    instance_id: ID,
    proof,
    boot_id: 'b',
    version: '9.9.9',
    pid: 7,
    ...more,
  };
}

const INFO = {
  session_id: 's1',
  name: 'n',
  agent: 'shell',
  alive: true,
  pid: 5,
  started_at: 'now',
  ended: null,
  cols: 80,
  rows: 24,
  clients: 1,
};

async function connect(answer: Answer, more: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const [ours, theirs] = duplexPair();
  const peer = capsuleSide(theirs, answer);
  const { timeoutMs = 2000, signal = new AbortController().signal } = more;
  const connection = await connectCapsule({
    open: async () => ours,
    instanceId: ID,
    capsuleKey: KEY,
    clientName: 'test',
    signal,
    timeoutMs,
  });
  return { connection, peer };
}

/** Greets as it should, and then does what the test says. */
const greeting =
  (answer: Answer = () => {}): Answer =>
  (peer, message) => {
    if (message.type === 'hello') peer.say(welcome(message.nonce));
    else answer(peer, message);
  };

describe('connecting', () => {
  test('sends nothing secret first, and knows the capsule by its proof', async () => {
    const { connection, peer } = await connect(greeting());
    expect(connection.welcome).toMatchObject({ instance_id: ID, pid: 7, version: '9.9.9' });
    expect(peer.received).toHaveLength(1);
    expect(JSON.stringify(peer.received)).not.toContain(KEY);
  });

  test.each<[string, Answer, string]>([
    [
      'another key',
      (peer, hello) =>
        hello.type === 'hello' &&
        peer.say(welcome(hello.nonce, { proof: capsuleProof('x'.repeat(64), hello.nonce) })),
      'CAPSULE_UNPROVEN',
    ],
    ['the proof of another nonce', (peer) => peer.say(welcome('replayed-replayed')), 'CAPSULE_UNPROVEN'],
    [
      'another instance',
      (peer, hello) => hello.type === 'hello' && peer.say(welcome(hello.nonce, { instance_id: 'other' })),
      'CAPSULE_UNPROVEN',
    ],
    [
      'another first message',
      (peer) => peer.say({ type: 'stopping', ended_by: 'agent' }),
      'CAPSULE_UNPROVEN',
    ],
    [
      'a version nobody offered',
      (peer, hello) => hello.type === 'hello' && peer.say(welcome(hello.nonce, { protocol: 3 })),
      'PROTOCOL_UNSUPPORTED',
    ],
    [
      'a refusal of the version',
      (peer) =>
        peer.say({
          type: 'failure',
          request_id: null,
          error: { code: 'PROTOCOL_UNSUPPORTED', message: '7 to 9' },
        }),
      'PROTOCOL_UNSUPPORTED',
    ],
    ['the end of the connection', (peer) => peer.stream.end(), 'CAPSULE_UNPROVEN'],
    ['HTTP', (peer) => peer.stream.write('HTTP/1.1 400 Bad Request\r\n\r\n'), 'CAPSULE_UNPROVEN'],
    [
      'an endless frame',
      (peer) => peer.stream.write(Buffer.from([0xff, 0xff, 0xff, 0xff])),
      'CAPSULE_UNPROVEN',
    ],
  ])('to what answers with %s fails and says why', async (_, answer, code) => {
    expect((await rejected(connect(answer))).code).toBe(code);
  });

  test('to what never answers ends in time, and so does a connection that never opens', async () => {
    expect((await rejected(connect(() => {}, { timeoutMs: 50 }))).code).toBe('CAPSULE_SILENT');
    const never = connectCapsule({
      open: () => new Promise(() => {}),
      instanceId: ID,
      capsuleKey: KEY,
      clientName: 'test',
      signal: new AbortController().signal,
      timeoutMs: 50,
    });
    expect((await rejected(never)).code).toBe('CAPSULE_SILENT');
  });

  test('can be given up', async () => {
    const abort = new AbortController();
    const connecting = connect(() => abort.abort(new Error('given up')), { signal: abort.signal });
    await expect(connecting).rejects.toThrow('given up');
  });
});

describe('a connection', () => {
  test('answers each request with its own reply, in any order', async () => {
    const { connection } = await connect(
      greeting((peer, message) => {
        if (message.type === 'list')
          setImmediate(() => peer.say({ type: 'reply', request_id: message.request_id, data: [INFO] }));
        if (message.type === 'snapshot') {
          peer.say({ type: 'reply', request_id: message.request_id, data: { lines: ['a'], title: 't' } });
        }
      }),
    );
    const [list, snapshot] = await Promise.all([connection.list(), connection.snapshot(null, 5)]);
    expect(list).toEqual([INFO]);
    expect(snapshot).toEqual({ lines: ['a'], title: 't' });
  });

  test('passes a failure of the capsule on as it is', async () => {
    const { connection } = await connect(
      greeting((peer, message) => {
        if ('request_id' in message) {
          peer.say({
            type: 'failure',
            request_id: message.request_id,
            error: { code: 'SESSION_NOT_FOUND', message: 'no s9' },
          });
        }
      }),
    );
    const error = await rejected(connection.attach({ sessionId: 's9', cols: 80, rows: 24 }));
    expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', message: 'no s9' });
  });

  test('bounds each request', async () => {
    const { connection } = await connect(greeting(), { timeoutMs: 50 });
    expect(await rejected(connection.ping())).toMatchObject({
      code: 'CAPSULE_SILENT',
      message: expect.stringContaining('ping'),
    });
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a list that is none', [{ session_id: 's1' }]],
    ['a path', '/etc/passwd'],
  ])('does not take %s for an answer', async (_, data) => {
    const { connection } = await connect(
      greeting(
        (peer, message) =>
          'request_id' in message && peer.say({ type: 'reply', request_id: message.request_id, data }),
      ),
    );
    expect((await rejected(connection.list())).code).toBe('CAPSULE_GARBAGE');
  });

  test('ends what is waiting when the capsule is gone', async () => {
    const { connection } = await connect(greeting((peer) => peer.stream.end()));
    expect((await rejected(connection.list())).code).toBe('CAPSULE_GONE');
    expect((await rejected(connection.list())).code).toBe('CAPSULE_GONE');
    expect(await connection.closed).toEqual({ reason: 'the capsule closed the connection', code: null });
  });

  test('carries terminal bytes both ways, messages to listeners, and waits for a listener that takes its time', async () => {
    const { connection, peer } = await connect(greeting());
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const done = Promise.withResolvers<void>();
    connection.onTerminal(async (bytes) => {
      seen.push(Buffer.from(bytes).toString());
      await gate.promise;
    });
    connection.onMessage((message) => {
      seen.push(message.type);
      if (message.type === 'stopping') done.resolve();
    });
    peer.stream.write(
      Buffer.concat([...encodeTerminal(Buffer.from('one')), ...encodeTerminal(Buffer.from('two'))]),
    );
    peer.say({ type: 'teleport' });
    peer.say({ type: 'reply', request_id: 99, data: null });
    peer.say({ type: 'stopping', ended_by: 'agent' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual(['one']);
    gate.resolve();
    await done.promise;
    expect(seen).toEqual(['one', 'two', 'stopping']);
    connection.write(Buffer.from('typed'));
    connection.resize(100, 30);
    connection.close();
    await new Promise((resolve) => peer.stream.once('end', resolve));
    expect(peer.typed).toEqual(['typed']);
    expect(peer.received.at(-1)).toEqual({ type: 'resize', cols: 100, rows: 30 });
  });

  test.each<[string, (peer: Peer) => void, string]>([
    ['a frame of a gigabyte', (peer) => peer.stream.write(Buffer.from([0x40, 0, 0, 0])), 'CAPSULE_GARBAGE'],
    [
      'a message that is not JSON',
      (peer) => peer.stream.write(Buffer.from([0, 0, 0, 2, FRAME_JSON, 123])),
      'CAPSULE_GARBAGE',
    ],
    ['a message that is not valid', (peer) => peer.say({ type: 'resized' }), 'CAPSULE_GARBAGE'],
  ])('closes on %s and names it', async (_, act, code) => {
    const { connection, peer } = await connect(greeting());
    act(peer);
    expect((await connection.closed).code).toBe(code);
  });

  test('needs no memory for a gigabyte of noise it did not ask for', async () => {
    const { connection, peer } = await connect(greeting());
    const chunk = Buffer.concat([
      ...encodeTerminal(Buffer.alloc(MAX_FRAME_BYTES, 'x')),
      encodeMessage({ type: 'teleport', to: 'x'.repeat(MAX_FRAME_BYTES / 2) } as never),
    ]);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let sent = 0; sent < 1 << 30; sent += chunk.length) {
      if (!peer.stream.write(chunk)) await new Promise((resolve) => peer.stream.once('drain', resolve));
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(256 * 1024 * 1024);
    connection.close();
  }, 120_000);
});
