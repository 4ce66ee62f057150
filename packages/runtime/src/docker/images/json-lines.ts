import type { Readable } from 'node:stream';

const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * The JSON objects of a progress stream, one per line. A line that is none, or that is longer than 4 MiB, is left out:
 * it can only be talk. Ends with the stream; throws what breaks it.
 */
export async function* jsonLines(stream: Readable): AsyncGenerator<Record<string, unknown>> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const keep = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= MAX_LINE_BYTES) parts.push(part);
    else parts = [];
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, end));
      from = end + 1;
      const value = objectOf(parts);
      parts = [];
      bytes = 0;
      if (value !== null) yield value;
    }
    keep(chunk.subarray(from));
  }
  const last = objectOf(parts);
  if (last !== null) yield last;
}

function objectOf(parts: Buffer[]): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** `error` of an object of such a stream; null when it is none. */
export function streamError(value: Record<string, unknown>): { message: string; code: number | null } | null {
  const detail = (value.errorDetail ?? {}) as { message?: unknown; code?: unknown };
  const message = typeof detail.message === 'string' ? detail.message : value.error;
  if (typeof message !== 'string') return null;
  return { message, code: typeof detail.code === 'number' ? detail.code : null };
}
