import type { Duplex } from 'node:stream';
import { JackinError } from '@jackin/core';
import {
  type CapsuleMessage,
  createFrameDecoder,
  FRAME_JSON,
  FRAME_TERMINAL,
  parseCapsuleMessage,
} from '../protocol/index.ts';

export interface Closed {
  reason: string;
  /** What the other side did wrong; null for an ordinary end. */
  code: string | null;
}

export type TerminalListener = (bytes: Uint8Array) => void | Promise<void>;
export type MessageListener = (message: CapsuleMessage) => void;

/** Messages and terminal bytes over a stream that nobody vouches for. */
export interface Channel {
  send(frame: Uint8Array): boolean;
  onMessage(listener: MessageListener): () => void;
  onTerminal(listener: TerminalListener): () => void;
  readonly closed: Promise<Closed>;
  /** In order: what was sent still arrives. */
  close(): void;
  destroy(): void;
}

/**
 * Frames are bounded, so that whatever comes in needs no more memory than one of them; the first that is not valid
 * closes the channel and names the reason.
 */
export function createChannel(stream: Duplex): Channel {
  const decoder = createFrameDecoder();
  const messageListeners = new Set<MessageListener>();
  const terminalListeners = new Set<TerminalListener>();
  const closed = Promise.withResolvers<Closed>();
  let over = false;
  let reading = Promise.resolve();

  function finish(reason: string, code: string | null): void {
    if (over) return;
    over = true;
    stream.destroy();
    closed.resolve({ reason, code });
  }

  function broken(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const bad = error instanceof JackinError && ['BAD_FRAME', 'BAD_JSON', 'BAD_MESSAGE'].includes(error.code);
    finish(reason, bad ? 'CAPSULE_GARBAGE' : 'CAPSULE_GONE');
  }

  /** Null when every listener is done with it. */
  function take(kind: number, payload: Buffer): Promise<unknown> | null {
    if (kind === FRAME_JSON) {
      const message = parseCapsuleMessage(payload);
      if (message !== null) for (const listener of [...messageListeners]) listener(message);
    } else if (kind === FRAME_TERMINAL) {
      const pending = [...terminalListeners].map((listener) => listener(payload)).filter(isPromise);
      if (pending.length > 0) return Promise.all(pending);
    }
    return null;
  }

  async function read(chunk: Buffer): Promise<void> {
    for (const { kind, payload } of decoder.push(chunk)) {
      if (over) return;
      const pending = take(kind, payload);
      if (pending === null) continue;
      stream.pause();
      await pending;
      if (!over) stream.resume();
    }
  }

  stream.on('data', (chunk: Buffer) => {
    if (over) return;
    // One chunk after the other, also when a listener takes its time with the first.
    reading = reading.then(() => read(chunk)).catch(broken);
  });
  stream.on('error', broken);
  stream.on('end', () => void reading.then(() => finish('the capsule closed the connection', null)));
  stream.on('close', () => void reading.then(() => finish('the connection is closed', null)));

  return {
    send: (frame) => over || stream.write(frame),
    onMessage: (listener) => added(messageListeners, listener),
    onTerminal: (listener) => added(terminalListeners, listener),
    closed: closed.promise,
    close() {
      stream.end();
    },
    destroy: () => finish('closed here', null),
  };
}

function added<T>(set: Set<T>, listener: T): () => void {
  set.add(listener);
  return () => void set.delete(listener);
}

function isPromise(value: void | Promise<void>): value is Promise<void> {
  return value instanceof Promise;
}
