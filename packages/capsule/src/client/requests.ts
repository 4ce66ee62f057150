import { afterAwake, JackinError } from '@jackin/core';
import * as z from 'zod';
import {
  type CapsuleMessage,
  type ClientMessage,
  encodeMessage,
  encodeTerminal,
  sessionInfoSchema,
} from '../protocol/index.ts';
import type { Channel } from './channel.ts';
import type { CapsuleConnection, Welcome } from './connection.ts';

export interface RequestsOptions {
  channel: Channel;
  welcome: Welcome;
  /** For an answer, beyond the grace a request asks for. */
  timeoutMs: number;
}

type Unnumbered<T> = T extends { request_id: number } ? Omit<T, 'request_id'> : never;
type Request = Unnumbered<ClientMessage>;

interface Waiting {
  resolve(data: unknown): void;
  reject(error: JackinError): void;
}

const snapshotSchema = z.object({ lines: z.array(z.string()), title: z.string() });
const listSchema = z.array(sessionInfoSchema);
/** What the capsule itself may need after a grace: killing, and writing what is to be kept. */
const ENDING_MS = 10_000;

/** The requests of a connection whose other side is known. */
export function createRequests({ channel, welcome, timeoutMs }: RequestsOptions): CapsuleConnection {
  const waiting = new Map<number, Waiting>();
  let nextId = 1;

  channel.onMessage((message) => {
    if (message.type === 'reply') waiting.get(message.request_id)?.resolve(message.data);
    else if (message.type === 'failure' && message.request_id !== null) {
      waiting.get(message.request_id)?.reject(new JackinError({ ...message.error }));
    }
  });
  const closed = channel.closed.then((how) => {
    for (const request of waiting.values()) request.reject(gone(how.reason, how.code));
    return how;
  });

  async function request<T>(body: Request, schema: z.ZodType<T>, extraMs: number = 0): Promise<T> {
    const request_id = nextId++;
    const answer = Promise.withResolvers<unknown>();
    const limitMs = timeoutMs + extraMs;
    const cancel = afterAwake(limitMs, () => answer.reject(silent(body.type, limitMs)));
    waiting.set(request_id, answer);
    try {
      channel.send(encodeMessage({ ...body, request_id } as ClientMessage));
      // Already over: the answer never comes.
      const data = await Promise.race([answer.promise, over]);
      const parsed = schema.safeParse(data);
      if (parsed.success) return parsed.data;
      throw new JackinError({
        code: 'CAPSULE_GARBAGE',
        message: `The capsule's answer to ${body.type} is not valid.`,
      });
    } finally {
      cancel();
      waiting.delete(request_id);
    }
  }
  const over = closed.then(({ reason, code }) => {
    throw gone(reason, code);
  });
  over.catch(() => {});

  return {
    welcome,
    startSession: (session) => request({ type: 'start_session', session }, sessionInfoSchema),
    attach: ({ sessionId, cols, rows }) =>
      request({ type: 'attach', session_id: sessionId, cols, rows }, sessionInfoSchema),
    resize: (cols, rows) => void channel.send(encodeMessage({ type: 'resize', cols, rows })),
    list: () => request({ type: 'list' }, listSchema),
    endSession: (session_id, grace_ms) =>
      request({ type: 'end_session', session_id, grace_ms }, sessionInfoSchema, grace_ms + ENDING_MS),
    async stop({ nonce, graceMs }) {
      const extraMs = graceMs + ENDING_MS;
      await request({ type: 'stop', nonce, grace_ms: graceMs }, z.unknown(), extraMs);
      await bounded(closed, timeoutMs, () => silent('stop', timeoutMs + extraMs));
    },
    snapshot: (session_id, lines) => request({ type: 'snapshot', session_id, lines }, snapshotSchema),
    ping: async () => void (await request({ type: 'ping' }, z.unknown())),
    write: (bytes) =>
      encodeTerminal(bytes)
        .map((frame) => channel.send(frame))
        .every(Boolean),
    onTerminal: (listener) => channel.onTerminal(listener),
    onMessage: (listener) =>
      channel.onMessage((message) => {
        if (!answersRequest(message)) listener(message);
      }),
    closed,
    close: () => channel.close(),
  };
}

function answersRequest(message: CapsuleMessage): boolean {
  return message.type === 'reply' || (message.type === 'failure' && message.request_id !== null);
}

async function bounded(promise: Promise<unknown>, limitMs: number, late: () => JackinError): Promise<void> {
  const expired = Promise.withResolvers<never>();
  const cancel = afterAwake(limitMs, () => expired.reject(late()));
  try {
    await Promise.race([promise, expired.promise]);
  } finally {
    cancel();
  }
}

function silent(type: string, limitMs: number): JackinError {
  return new JackinError({
    code: 'CAPSULE_SILENT',
    message: `The capsule did not answer ${type} within ${limitMs} ms.`,
    hint: 'Look at it with: jackin status',
  });
}

function gone(reason: string, code: string | null): JackinError {
  return new JackinError({
    code: code ?? 'CAPSULE_GONE',
    message: `The connection to the capsule ended: ${reason}.`,
    hint: 'Look at it with: jackin status',
  });
}
