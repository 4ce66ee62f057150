import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';

export interface GitObject {
  type: string;
  body: Buffer;
}

const TYPES: Record<number, string> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const BY_OFFSET = 6;
const BY_ID = 7;

/** Every object in the packs of a directory, by the name its content has: indexes are not looked at. */
export function packedObjects(dir: string): Map<string, GitObject> {
  const found = new Map<string, GitObject>();
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (name.endsWith('.pack')) addPack(readFileSync(join(dir, name)), found);
  }
  return found;
}

interface Entry {
  offset: number;
  type: number;
  /** What a difference applies to: an offset in the pack, or an id. */
  base: number | string;
  content: Buffer;
}

function addPack(pack: Buffer, found: Map<string, GitObject>): void {
  const byOffset = new Map<number, GitObject>();
  let waiting = [...entriesOf(pack)];
  while (waiting.length > 0) {
    const left = waiting.filter((entry) => {
      const object = whole(entry, (base) =>
        typeof base === 'number' ? byOffset.get(base) : found.get(base),
      );
      if (object === null) return true;
      byOffset.set(entry.offset, object);
      found.set(idOf(object), object);
      return false;
    });
    if (left.length === waiting.length) throw new Error('a pack has differences to nothing');
    waiting = left;
  }
}

function* entriesOf(pack: Buffer): Generator<Entry> {
  let at = 12;
  for (let left = pack.readUInt32BE(8); left > 0; left -= 1) {
    const offset = at;
    let byte = pack.readUInt8(at);
    const type = (byte >> 4) & 7;
    // The rest is the size, which the content says as well.
    for (at += 1; byte & 0x80; at += 1) byte = pack.readUInt8(at);
    let base: number | string = 0;
    if (type === BY_ID) {
      base = pack.toString('hex', at, at + 20);
      at += 20;
    }
    if (type === BY_OFFSET) {
      byte = pack.readUInt8(at);
      at += 1;
      let back = byte & 0x7f;
      for (; byte & 0x80; at += 1) {
        byte = pack.readUInt8(at);
        back = (back + 1) * 128 + (byte & 0x7f);
      }
      base = offset - back;
    }
    const { content, bytes } = inflated(pack.subarray(at));
    at += bytes;
    yield { offset, type, base, content };
  }
}

function inflated(from: Buffer): { content: Buffer; bytes: number } {
  const { buffer, engine } = inflateSync(from, { info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  return { content: buffer, bytes: engine.bytesWritten };
}

/** Null when what it is a difference to is not known yet. */
function whole(
  { type, base, content }: Entry,
  baseOf: (base: number | string) => GitObject | undefined,
): GitObject | null {
  const plain = TYPES[type];
  if (plain !== undefined) return { type: plain, body: content };
  const from = baseOf(base);
  return from === undefined ? null : { type: from.type, body: applied(from.body, content) };
}

function applied(from: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = delta.readUInt8(at);
      at += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
  };
  /** Those of the bytes that are there, the lowest first. */
  const some = (present: number, count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      if ((present & (1 << index)) === 0) continue;
      value += delta.readUInt8(at) * 2 ** (8 * index);
      at += 1;
    }
    return value;
  };
  number();
  const size = number();
  const parts: Buffer[] = [];
  while (at < delta.length) {
    const code = delta.readUInt8(at);
    at += 1;
    if (code & 0x80) {
      const start = some(code & 0x0f, 4);
      const length = some((code >> 4) & 0x07, 3) || 0x10000;
      parts.push(from.subarray(start, start + length));
    } else {
      parts.push(delta.subarray(at, at + code));
      at += code;
    }
  }
  const body = Buffer.concat(parts);
  if (body.length !== size) throw new Error('a difference in a pack is damaged');
  return body;
}

function idOf({ type, body }: GitObject): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}
