import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  createFrameDecoder,
  encodeMessage,
  encodeTerminal,
  FRAME_JSON,
  FRAME_TERMINAL,
  type Frame,
  MAX_FRAME_BYTES,
  parseCapsuleMessage,
  parseClientMessage,
} from '../src/protocol/index.ts';

function inPieces(bytes: Buffer, cuts: number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

describe('frames', () => {
  test('come out of any chunking as they went in', () => {
    const message = fc.nat().map((request_id) => encodeMessage({ type: 'ping', request_id }));
    const terminal = fc
      .uint8Array({ minLength: 1, maxLength: 300 })
      .map((bytes) => encodeTerminal(bytes)[0] as Buffer);
    fc.assert(
      fc.property(fc.array(fc.oneof(message, terminal)), fc.array(fc.nat(5000)), (frames, cuts) => {
        const decoder = createFrameDecoder();
        const out = inPieces(Buffer.concat(frames), cuts).flatMap((piece) => decoder.push(piece));
        const again = out.map(({ kind, payload }: Frame) => {
          const head = Buffer.alloc(5);
          head.writeUInt32BE(payload.length + 1, 0);
          head[4] = kind;
          return Buffer.concat([head, payload]);
        });
        expect(again).toEqual(frames);
      }),
    );
  });

  test('of terminal bytes are cut at the largest payload', () => {
    const bytes = Buffer.alloc(MAX_FRAME_BYTES * 2 + 7, 'x');
    const frames = encodeTerminal(bytes);
    expect(frames.map((frame) => frame.length - 5)).toEqual([MAX_FRAME_BYTES, MAX_FRAME_BYTES, 7]);
    const decoder = createFrameDecoder();
    const payloads = frames.flatMap((frame) => decoder.push(frame)).map(({ payload }) => payload);
    expect(Buffer.concat(payloads).equals(bytes)).toBe(true);
  });

  test.each([
    ['an empty frame', [0, 0, 0, 0]],
    ['a frame one byte too long', [0, 16, 0, 2]],
    ['a gigabyte', [0x40, 0, 0, 0]],
    ['four gigabytes', [0xff, 0xff, 0xff, 0xff]],
  ])('refuse %s before any of it is kept', (_, header) => {
    const decoder = createFrameDecoder();
    expect(() => decoder.push(Buffer.from(header))).toThrow(expect.objectContaining({ code: 'BAD_FRAME' }));
  });

  test('refuse to carry a message that is too large', () => {
    const data = 'x'.repeat(MAX_FRAME_BYTES);
    expect(() => encodeMessage({ type: 'reply', request_id: 1, data })).toThrow(
      expect.objectContaining({ code: 'MESSAGE_TOO_LARGE' }),
    );
  });
});

describe('messages', () => {
  const parse = (value: unknown): unknown => parseClientMessage(Buffer.from(JSON.stringify(value)));

  test('of an unknown type are nothing, unknown fields are left out', () => {
    expect(parse({ type: 'from_the_future', request_id: 1 })).toBeNull();
    expect(parse({ type: 'ping', request_id: 1, colour: 'red' })).toEqual({ type: 'ping', request_id: 1 });
  });

  test.each([
    ['text that is not JSON', '{"type":', 'BAD_JSON'],
    ['a number', '7', 'BAD_MESSAGE'],
    ['no type', '{"request_id":1}', 'BAD_MESSAGE'],
    ['a known type without what it needs', '{"type":"ping"}', 'BAD_MESSAGE'],
    ['a size of nothing', '{"type":"resize","cols":0,"rows":5}', 'BAD_MESSAGE'],
    ['deep nesting', '['.repeat(400_000), 'BAD_JSON'],
  ])('with %s are refused', (_, text, code) => {
    expect(() => parseClientMessage(Buffer.from(text))).toThrow(expect.objectContaining({ code }));
  });

  test('of the capsule are checked too', () => {
    const payload = Buffer.from(
      JSON.stringify({ type: 'repaint', session_id: 's', cols: 1, rows: 1, bytes: -1 }),
    );
    expect(() => parseCapsuleMessage(payload)).toThrow(expect.objectContaining({ code: 'BAD_MESSAGE' }));
  });

  test('and terminal bytes have kinds of their own', () => {
    const decoder = createFrameDecoder();
    const kinds = [...encodeTerminal(Buffer.from('x')), encodeMessage({ type: 'ping', request_id: 1 })]
      .flatMap((frame) => decoder.push(frame))
      .map(({ kind }) => kind);
    expect(kinds).toEqual([FRAME_TERMINAL, FRAME_JSON]);
  });
});
