import { createHmac } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CapsuleMessage,
  type ClientMessage,
  clientMessageSchema,
  FRAME_JSON,
  FRAME_TERMINAL,
  type SessionInfo,
} from '../../../src/protocol/index.ts';
import { createUntil, type Until } from './until.ts';

export const INSTANCE_ID = 'inst-attach-test';
export const CAPSULE_KEY = 'k'.repeat(64);

/** A capsule with one session and no agent: the test is the agent. */
export interface FakeCapsule extends AsyncDisposable {
  readonly attaches: { cols: number; rows: number }[];
  readonly sizes: { cols: number; rows: number }[];
  readonly input: string;
  readonly openConnections: number;
  /** Bytes the kernel did not take yet on the newest connection. */
  readonly unsent: number;
  readonly session: SessionInfo;
  readonly until: Until['until'];
  print(text: string | Uint8Array): void;
  /** A new agent, in place of the one that ended. */
  startSession(): void;
  endSession(end: { code: number | null; signal: string | null; oom: boolean }): void;
  send(message: CapsuleMessage): void;
  /** The connection breaks, as when the capsule is killed. */
  drop(): void;
}

export interface FakeCapsuleOptions {
  /** What a new client is shown. */
  repaint?: (cols: number, rows: number) => string;
  /** The session is dead already. */
  dead?: boolean;
  refuse?: { code: string; message: string };
  /** Accepts connections and says nothing. */
  silent?: boolean;
}

export async function startFakeCapsule(path: string, options: FakeCapsuleOptions = {}): Promise<FakeCapsule> {
  const attaches: { cols: number; rows: number }[] = [];
  const sizes: { cols: number; rows: number }[] = [];
  const connections = new Set<Socket>();
  let newest: Socket | null = null;
  let input = '';
  let session = sessionInfo(!options.dead);
  const { changed, until } = createUntil(() => JSON.stringify({ attaches, sizes, input }));

  function handle(socket: Socket, message: ClientMessage): void {
    if (options.silent) return;
    if (message.type === 'hello') sendMessage(socket, welcome(message.nonce));
    else if (message.type === 'attach') attachTo(socket, message);
    else if (message.type === 'resize') sizes.push({ cols: message.cols, rows: message.rows });
    changed();
  }

  function attachTo(socket: Socket, { request_id, cols, rows }: ClientMessage & { type: 'attach' }): void {
    if (options.refuse) {
      sendMessage(socket, { type: 'failure', request_id, error: options.refuse });
      return;
    }
    attaches.push({ cols, rows });
    session = { ...session, cols, rows, clients: 1 };
    const bytes = Buffer.from(options.repaint?.(cols, rows) ?? '\u001b[H\u001b[2Jready ');
    sendMessage(socket, { type: 'reply', request_id, data: session });
    sendMessage(socket, { type: 'repaint', session_id: session.session_id, cols, rows, bytes: bytes.length });
    sendFrame(socket, FRAME_TERMINAL, bytes);
  }

  const server = createServer((socket) => {
    newest = socket;
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      connections.delete(socket);
      changed();
    });
    readFrames(socket, (kind, payload) => {
      if (kind === FRAME_JSON) handle(socket, clientMessageSchema.parse(JSON.parse(payload.toString())));
      else input += payload.toString('latin1');
      changed();
    });
    changed();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));

  const send = (message: CapsuleMessage): void => {
    if (newest) sendMessage(newest, message);
  };

  return {
    attaches,
    sizes,
    get input() {
      return input;
    },
    get openConnections() {
      return connections.size;
    },
    get unsent() {
      return newest?.writableLength ?? 0;
    },
    get session() {
      return session;
    },
    until,
    startSession() {
      session = sessionInfo(true);
    },
    print(text) {
      if (newest) sendFrame(newest, FRAME_TERMINAL, Buffer.from(text));
    },
    endSession(end) {
      session = { ...session, alive: false, ended: { at: new Date().toISOString(), ...end } };
      send({ type: 'session_ended', session });
    },
    send,
    drop: () => void newest?.destroy(),
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      await Promise.race([
        new Promise((resolve) => server.close(resolve)),
        sleep(1000, null, { ref: false }),
      ]);
    },
  };
}

function sessionInfo(alive: boolean): SessionInfo {
  const at = new Date().toISOString();
  return {
    session_id: 'session-1',
    name: 'shell',
    agent: 'shell',
    alive,
    pid: alive ? 1 : null,
    started_at: at,
    ended: alive ? null : { at, code: 4, signal: null, oom: false },
    cols: 80,
    rows: 24,
    clients: 0,
  };
}

function welcome(nonce: string): CapsuleMessage {
  const proof = createHmac('sha256', CAPSULE_KEY).update(nonce).digest('hex');
  return {
    type: 'welcome',
    protocol: 1,
    instance_id: INSTANCE_ID,
    proof,
    boot_id: 'b',
    version: '0',
    pid: 1,
  };
}

function sendMessage(socket: Socket, message: CapsuleMessage): void {
  sendFrame(socket, FRAME_JSON, Buffer.from(JSON.stringify(message)));
}

function sendFrame(socket: Socket, kind: number, payload: Uint8Array): void {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(payload.length + 1);
  header[4] = kind;
  socket.write(Buffer.concat([header, payload]));
}

function readFrames(socket: Socket, onFrame: (kind: number, payload: Buffer) => void): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
      const end = 4 + pending.readUInt32BE(0);
      onFrame(pending[4] ?? 0, pending.subarray(5, end));
      pending = pending.subarray(end);
    }
  });
}
