import type { WriteStream } from 'node:tty';
import { within } from './bounded.ts';

export interface Output {
  /** The terminal is gone: nothing is written any more. */
  readonly broken: boolean;
  /** Bytes waiting here or on their way. */
  readonly pendingBytes: number;
  /** With a promise it answers when enough waits already: for whoever can hold the source until then. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** Waits, at most `limitMs`, until everything reached the terminal. */
  flush(limitMs: number): Promise<void>;
  /** Forgets what was not handed to the terminal yet. */
  discard(): void;
  /** Forgets the rest and writes `bytes` behind what is on its way; resolves when the terminal has it or is gone. */
  last(bytes: Uint8Array): Promise<void>;
}

const PIECE_BYTES = 32 * 1024;
const HIGH_WATER_BYTES = 256 * 1024;
const LOW_WATER_BYTES = 64 * 1024;

/**
 * Writes to the terminal one piece at a time, so that all but one piece can still be forgotten. Never blocks as
 * long as the stream does not.
 */
export function createOutput(display: WriteStream, onGone: () => void): Output {
  const queue: Uint8Array[] = [];
  const waiting: { belowBytes: number; resolve(): void }[] = [];
  let pendingBytes = 0;
  let inFlight = false;
  let broken = false;

  /** Resolves when less than that waits, or when it never will be written. */
  function below(belowBytes: number): Promise<void> {
    return new Promise((resolve) => waiting.push({ belowBytes, resolve }));
  }

  function settle(): void {
    for (const one of waiting.splice(0)) {
      if (broken || pendingBytes < one.belowBytes) one.resolve();
      else waiting.push(one);
    }
  }

  function hand(piece: Uint8Array): void {
    inFlight = true;
    display.write(piece, (error) => {
      inFlight = false;
      pendingBytes -= piece.length;
      if (error) fail();
      settle();
      next();
    });
  }

  function next(): void {
    const piece = inFlight || broken ? undefined : queue.shift();
    if (piece !== undefined) hand(piece);
  }

  function discard(): void {
    for (const piece of queue.splice(0)) pendingBytes -= piece.length;
    settle();
  }

  function fail(): void {
    if (broken) return;
    broken = true;
    discard();
    onGone();
  }

  display.on('error', fail);
  return {
    get broken() {
      return broken;
    },
    get pendingBytes() {
      return pendingBytes;
    },
    write(bytes) {
      if (broken) return undefined;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) queue.push(bytes.subarray(at, at + PIECE_BYTES));
      pendingBytes += bytes.length;
      next();
      return pendingBytes > HIGH_WATER_BYTES ? below(LOW_WATER_BYTES) : undefined;
    },
    async flush(limitMs) {
      if (pendingBytes === 0 || broken) return;
      await within(below(1), limitMs);
    },
    discard,
    async last(bytes) {
      discard();
      if (broken) return;
      const error = await new Promise((resolve) => display.write(bytes, resolve));
      // The stream reports the same error as an event, later: the listener of a broken terminal stays.
      if (error) fail();
      else display.off('error', fail);
    },
  };
}
