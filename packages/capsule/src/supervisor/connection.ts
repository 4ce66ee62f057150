import type { Duplex } from 'node:stream';
import { JackinError } from '@jackin/core';
import {
  type CapsuleMessage,
  type ClientMessage,
  capsuleProof,
  createFrameDecoder,
  encodeMessage,
  encodeTerminal,
  FRAME_JSON,
  FRAME_TERMINAL,
  type Frame,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  parseClientMessage,
} from '../protocol/index.ts';
import { CAPSULE_VERSION } from '../version.ts';
import { type Log, reasonOf } from './log.ts';
import type { ViewerLink } from './viewers.ts';

export type Hello = Extract<ClientMessage, { type: 'hello' }>;
export type Request = Exclude<ClientMessage, Hello>;

/** One client. What goes wrong here ends this connection and nothing else. */
export interface Connection extends ViewerLink {
  /** The client said hello and was answered. */
  readonly welcomed: boolean;
  /** Takes no input of this client until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Sends what is on its way, then closes. */
  close(): void;
}

export interface ConnectionHandlers {
  /** What to reply; null when there is no reply or it has been sent. May throw. */
  onRequest(connection: Connection, request: Request): Promise<unknown> | null;
  onInput(connection: Connection, bytes: Buffer): void;
  onClose(connection: Connection): void;
}

export interface ConnectionOptions {
  stream: Duplex;
  identity: { instanceId: string; bootId: string; capsuleKey: string };
  handlers: ConnectionHandlers;
  log: Log;
}

const HELLO_LIMIT_MS = 5000;
/** A client that asks without ever reading the answers. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const CLOSE_LIMIT_MS = 1000;
/** What one client may have done before the others get a turn, and before it waits for its own answers. */
const FRAMES_PER_TURN = 64;
const MAX_UNANSWERED = 32;

export function serveConnection({ stream, identity, handlers, log }: ConnectionOptions): Connection {
  const decoder = createFrameDecoder();
  /** Received, not dealt with yet: at most what one read brought. */
  const inbox: Frame[] = [];
  let welcomed = false;
  let closed = false;
  let held = false;
  let unanswered = 0;
  let turn: NodeJS.Immediate | undefined;
  const helloLimit = setTimeout(() => fail(null, tooLate()), HELLO_LIMIT_MS);

  const connection: Connection = {
    get welcomed() {
      return welcomed;
    },
    get backlogBytes() {
      return stream.writableLength;
    },
    sendMessage: (message) => put([encodeMessage(message)]),
    sendTerminal: (bytes) => put(encodeTerminal(bytes)),
    onceDrained(callback) {
      if (stream.writableLength === 0) queueMicrotask(callback);
      else stream.once('drain', callback);
    },
    pause() {
      held = true;
      stream.pause();
    },
    resume() {
      held = false;
      pump();
    },
    close,
  };

  function put(frames: Buffer[]): void {
    if (closed) return;
    for (const frame of frames) stream.write(frame);
    if (stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
  }

  function close(): void {
    if (closed) return;
    closed = true;
    clearTimeout(helloLimit);
    // What still comes in is read and left, so that the end is seen.
    stream.resume();
    stream.end();
    // A client that does not read does not see the end either.
    const limit = setTimeout(() => stream.destroy(), CLOSE_LIMIT_MS);
    limit.unref();
    stream.once('close', () => clearTimeout(limit));
  }

  function fail(requestId: number | null, error: unknown): void {
    const { code, message } =
      error instanceof JackinError ? error : { code: 'INTERNAL', message: reasonOf(error) };
    if (code === 'INTERNAL') log(`a request failed: ${message}`);
    connection.sendMessage({ type: 'failure', request_id: requestId, error: { code, message } });
    if (requestId === null) close();
  }

  function onFrame({ kind, payload }: Frame): void {
    if (kind === FRAME_TERMINAL && welcomed) handlers.onInput(connection, payload);
    if (kind !== FRAME_JSON) return;
    const message = parseClientMessage(payload);
    if (message?.type === 'hello') greet(message);
    else if (message !== null && welcomed) answer(message);
  }

  function greet(hello: Hello): void {
    if (welcomed) throw new JackinError({ code: 'BAD_MESSAGE', message: 'A second hello was received.' });
    const protocol = Math.min(hello.protocol.max, PROTOCOL_MAX);
    if (protocol < Math.max(hello.protocol.min, PROTOCOL_MIN)) throw unsupported(hello);
    clearTimeout(helloLimit);
    welcomed = true;
    const welcome: CapsuleMessage = {
      type: 'welcome',
      protocol,
      instance_id: identity.instanceId,
      proof: capsuleProof(identity.capsuleKey, hello.nonce),
      boot_id: identity.bootId,
      version: CAPSULE_VERSION,
      pid: process.pid,
    };
    connection.sendMessage(welcome);
  }

  function answer(request: Request): void {
    const requestId = 'request_id' in request ? request.request_id : null;
    unanswered += 1;
    respond(requestId, request)
      .catch((error: unknown) => fail(null, error))
      .finally(() => {
        unanswered -= 1;
        if (turn === undefined) pump();
      });
  }

  async function respond(requestId: number | null, request: Request): Promise<void> {
    try {
      const data = handlers.onRequest(connection, request);
      if (data === null || requestId === null) return;
      connection.sendMessage({ type: 'reply', request_id: requestId, data: await data });
    } catch (error) {
      fail(requestId, error);
    }
  }

  /** Deals with what was received; the stream flows only when that is nothing. */
  function pump(): void {
    clearImmediate(turn);
    turn = undefined;
    try {
      for (let count = 0; count < FRAMES_PER_TURN; count += 1) {
        if (closed || held || unanswered >= MAX_UNANSWERED) return;
        const next = inbox.shift();
        if (next === undefined) {
          stream.resume();
          return;
        }
        onFrame(next);
      }
      turn = setImmediate(pump);
    } catch (error) {
      fail(null, error);
    }
  }

  stream.on('data', (chunk: Buffer) => {
    if (closed) return;
    stream.pause();
    try {
      inbox.push(...decoder.push(chunk));
    } catch (error) {
      // What came before it in the same read is not dealt with any more.
      fail(null, error);
      return;
    }
    pump();
  });
  stream.on('end', close);
  stream.on('error', () => stream.destroy());
  stream.on('close', () => {
    closed = true;
    clearTimeout(helloLimit);
    clearImmediate(turn);
    handlers.onClose(connection);
  });
  return connection;
}

function tooLate(): JackinError {
  return new JackinError({ code: 'HELLO_TIMEOUT', message: `No hello came within ${HELLO_LIMIT_MS} ms.` });
}

function unsupported({ protocol }: Hello): JackinError {
  return new JackinError({
    code: 'PROTOCOL_UNSUPPORTED',
    message: `This capsule speaks protocol ${PROTOCOL_MIN} to ${PROTOCOL_MAX}, the client ${protocol.min} to ${protocol.max}.`,
  });
}
