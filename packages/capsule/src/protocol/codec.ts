import { JackinError } from '@jackin/core';
import type * as z from 'zod';
import { FRAME_JSON, FRAME_TERMINAL, MAX_FRAME_BYTES } from './frame.ts';
import {
  type CapsuleMessage,
  type ClientMessage,
  capsuleMessageSchema,
  clientMessageSchema,
} from './messages.ts';

export interface Frame {
  kind: number;
  payload: Buffer;
}

export interface FrameDecoder {
  /**
   * The frames that `chunk` completes. Holds at most one unfinished frame.
   * @throws JackinError `BAD_FRAME`; the decoder is of no use afterwards
   */
  push(chunk: Uint8Array): Frame[];
}

const HEADER_BYTES = 4;

/** Frames out of a byte stream; a length of 0 or above `maxPayloadBytes` + 1 is refused before a byte of it is kept. */
export function createFrameDecoder(maxPayloadBytes: number = MAX_FRAME_BYTES): FrameDecoder {
  let parts: Buffer[] = [];
  let held = 0;
  let wanted = HEADER_BYTES;
  let inHeader = true;

  function take(): Buffer {
    const whole = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, held);
    parts = [];
    held = 0;
    return whole;
  }

  return {
    push(chunk) {
      const frames: Frame[] = [];
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      while (rest.length > 0) {
        const part = rest.subarray(0, wanted - held);
        rest = rest.subarray(part.length);
        parts.push(part);
        held += part.length;
        if (held < wanted) break;
        const whole = take();
        if (inHeader) {
          wanted = checkedLength(whole.readUInt32BE(0), maxPayloadBytes);
        } else {
          frames.push({ kind: whole[0] as number, payload: whole.subarray(1) });
          wanted = HEADER_BYTES;
        }
        inHeader = !inHeader;
      }
      return frames;
    },
  };
}

/** One message as a frame. @throws JackinError `MESSAGE_TOO_LARGE` */
export function encodeMessage(message: ClientMessage | CapsuleMessage): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  if (payload.length > MAX_FRAME_BYTES) {
    throw new JackinError({
      code: 'MESSAGE_TOO_LARGE',
      message: `A ${message.type} message of ${payload.length} bytes is above the limit of ${MAX_FRAME_BYTES}.`,
    });
  }
  return frame(FRAME_JSON, payload);
}

/** Terminal bytes as frames of at most `MAX_FRAME_BYTES` each. */
export function encodeTerminal(bytes: Uint8Array): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
    frames.push(frame(FRAME_TERMINAL, bytes.subarray(at, at + MAX_FRAME_BYTES)));
  }
  return frames;
}

/**
 * A message of the client; null for a type this build does not know, which is to be ignored.
 * @throws JackinError `BAD_JSON`, `BAD_MESSAGE`
 */
export function parseClientMessage(payload: Uint8Array): ClientMessage | null {
  return parse(payload, clientMessageSchema, CLIENT_TYPES);
}

/** A message of the capsule; otherwise as {@link parseClientMessage}. */
export function parseCapsuleMessage(payload: Uint8Array): CapsuleMessage | null {
  return parse(payload, capsuleMessageSchema, CAPSULE_TYPES);
}

const CLIENT_TYPES = new Set<unknown>(clientMessageSchema.options.map(({ shape }) => shape.type.value));
const CAPSULE_TYPES = new Set<unknown>(capsuleMessageSchema.options.map(({ shape }) => shape.type.value));

function parse<T>(payload: Uint8Array, schema: z.ZodType<T>, known: Set<unknown>): T | null {
  const value = parseJson(payload);
  const type = value !== null && typeof value === 'object' && 'type' in value ? value.type : undefined;
  if (typeof type !== 'string') throw bad('BAD_MESSAGE', 'A message without a type was received.');
  if (!known.has(type)) return null;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue === undefined ? '' : ` (${issue.path.map(String).join('.')}: ${issue.message})`;
  throw bad('BAD_MESSAGE', `A ${type} message that is not valid was received${where}.`);
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8'));
  } catch {
    throw bad('BAD_JSON', 'A message that is not JSON was received.');
  }
}

function checkedLength(length: number, maxPayloadBytes: number): number {
  if (length >= 1 && length <= maxPayloadBytes + 1) return length;
  throw bad(
    'BAD_FRAME',
    `A frame of ${length} bytes was announced; 1 to ${maxPayloadBytes + 1} are allowed.`,
  );
}

function frame(kind: number, payload: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(HEADER_BYTES + 1 + payload.length);
  whole.writeUInt32BE(payload.length + 1, 0);
  whole[HEADER_BYTES] = kind;
  whole.set(payload, HEADER_BYTES + 1);
  return whole;
}

function bad(code: string, message: string): JackinError {
  return new JackinError({ code, message });
}
