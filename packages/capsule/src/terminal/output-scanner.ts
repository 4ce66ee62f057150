import { C1_LEAD, CAN, ENQ, ESC, readEscape, SUB } from './escape-reader.ts';
import { type ControlString, isQueryString } from './queries.ts';

export interface ScannedOutput {
  /** For the terminal model, which answers queries. */
  model: Buffer;
  /** For clients: the same without queries. */
  clients: Buffer;
}

export interface OutputScanner {
  /**
   * Takes output of any chunking. What comes out ends on a boundary: an unfinished character or sequence is held
   * back from both sides, so that a repaint taken between two results and the result after it fit together.
   */
  push(chunk: Buffer): ScannedOutput;
}

/** A control string longer than this is left out on both sides (no terminal state depends on one that long). */
export const MAX_STRING_BYTES = 1024 * 1024;
const MAX_SEQUENCE_BYTES = 4096;
const HEAD_BYTES = 4096;
const BEL = 0x07;
const NOTHING = Buffer.alloc(0);
const STRING_END = Buffer.from('\u001b\\');

interface OpenString {
  kind: ControlString;
  parts: Buffer[];
  bytes: number;
  head: Buffer[];
  headBytes: number;
}

/** Splits a program's output into what the model and what the clients get (README, "Queries"). */
export function createOutputScanner(): OutputScanner {
  let carry = NOTHING;
  let string: OpenString | null = null;
  /** Inside a sequence that was too long to keep: left out until its end. */
  let dropping = false;
  /** A string cut off by another sequence, whose terminator that sequence was: goes out together with it. */
  let cut: { bytes: Buffer; clients: Buffer } | null = null;
  let out = createSides();

  function push(chunk: Buffer): ScannedOutput {
    const bytes = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
    carry = NOTHING;
    out = createSides();
    let at = 0;
    while (at < bytes.length) {
      if (string !== null) at = readString(bytes, at, string);
      else if (dropping) at = dropSequence(bytes, at);
      else at = readText(bytes, at);
    }
    return out.result();
  }

  function readText(bytes: Buffer, start: number): number {
    const end = endOfText(bytes, start);
    if (end > start) {
      out.both(bytes.subarray(start, end));
      return end;
    }
    const byte = bytes[start];
    if (byte === ENQ) return start + 1;
    if (byte !== ESC && bytes[start + 1] === undefined) return hold(bytes, start);
    if (byte !== ESC && byte !== C1_LEAD) return hold(bytes, start);
    return readSequence(bytes, start);
  }

  function readSequence(bytes: Buffer, start: number): number {
    const reading = readEscape(bytes, start);
    if (reading.state === 'incomplete') return hold(bytes, start);
    if (reading.state === 'string') {
      flushCut(true);
      const parts = [bytes.subarray(start, reading.body)];
      string = { kind: reading.kind, parts, bytes: 0, head: [], headBytes: 0 };
      return reading.body;
    }
    const sequence = bytes.subarray(start, reading.end);
    flushCut(reading.clients === 'all');
    if (reading.clients === 'all') out.both(sequence);
    else out.differing(sequence, reading.clients);
    return reading.end;
  }

  function hold(bytes: Buffer, start: number): number {
    if (bytes.length - start <= MAX_SEQUENCE_BYTES) carry = Buffer.from(bytes.subarray(start));
    else dropping = true;
    return bytes.length;
  }

  function dropSequence(bytes: Buffer, start: number): number {
    const at = bytes.findIndex(
      (byte, index) => index >= start && (byte >= 0x40 || [ESC, CAN, SUB].includes(byte)),
    );
    if (at === -1) return bytes.length;
    dropping = false;
    flushCut(false);
    return bytes[at] === ESC ? at : at + 1;
  }

  function readString(bytes: Buffer, start: number, open: OpenString): number {
    const { at, end, next } = endOfString(bytes, start, open.kind);
    keep(open, bytes.subarray(start, at));
    if (end === 'later') carry = Buffer.from(bytes.subarray(at));
    if (end === 'later' || end === 'none') return bytes.length;
    string = null;
    const tooLong = open.bytes > MAX_STRING_BYTES;
    const raw = tooLong ? NOTHING : Buffer.concat([...open.parts, bytes.subarray(at, next)]);
    const query = isQueryString(
      open.kind,
      Buffer.concat(open.head).toString('utf8'),
      open.bytes > open.headBytes,
    );
    const clients = query ? NOTHING : raw;
    if (end === 'cut') cut = { bytes: raw, clients };
    else if (query) out.differing(raw, NOTHING);
    else out.both(raw);
    return next;
  }

  function flushCut(terminated: boolean): void {
    if (cut === null) return;
    const { bytes, clients } = cut;
    cut = null;
    if (clients.length > 0 && terminated) out.both(bytes);
    else out.differing(bytes, clients.length > 0 ? Buffer.concat([clients, STRING_END]) : NOTHING);
  }

  return { push };
}

function keep(open: OpenString, content: Buffer): void {
  open.bytes += content.length;
  const head = content.subarray(0, HEAD_BYTES - open.headBytes);
  if (head.length > 0) open.head.push(Buffer.from(head));
  open.headBytes += head.length;
  if (open.bytes > MAX_STRING_BYTES) open.parts = [];
  else open.parts.push(content);
}

interface StringEnd {
  /** Where the content ends. */
  at: number;
  /** `cut`: another sequence begins at `next`. `later`: the byte at `at` cannot be judged alone. */
  end: 'terminated' | 'cut' | 'later' | 'none';
  next: number;
}

function endOfString(bytes: Buffer, start: number, kind: ControlString): StringEnd {
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if ((byte === BEL && kind === 'osc') || byte === CAN || byte === SUB) {
      return { at, end: 'terminated', next: at + 1 };
    }
    if (byte !== ESC && byte !== C1_LEAD) continue;
    const following = bytes[at + 1];
    if (following === undefined) return { at, end: 'later', next: at };
    if (byte === ESC) {
      return following === 0x5c ? { at, end: 'terminated', next: at + 2 } : { at, end: 'cut', next: at };
    }
    if (following === 0x9c) return { at, end: 'terminated', next: at + 2 };
    if (following >= 0x80 && following <= 0x9f) return { at, end: 'cut', next: at };
  }
  return { at: bytes.length, end: 'none', next: bytes.length };
}

/** Where plain text ends: before ESC, ENQ, a C1 control or a character whose last bytes are still to come. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte < 0x80) {
      if (byte === ESC || byte === ENQ) return at;
      at += 1;
      continue;
    }
    const length = characterLength(byte);
    let seen = 1;
    while (seen < length && at + seen < bytes.length && ((bytes[at + seen] as number) & 0xc0) === 0x80)
      seen += 1;
    if (seen < length && at + seen === bytes.length) return at;
    if (seen === 2 && byte === C1_LEAD && (bytes[at + 1] as number) <= 0x9f) return at;
    at += seen;
  }
  return at;
}

function characterLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

function createSides() {
  const model: Buffer[] = [];
  const clients: Buffer[] = [];
  let same = true;
  return {
    both(bytes: Buffer): void {
      model.push(bytes);
      clients.push(bytes);
    },
    differing(forModel: Buffer, forClients: Buffer): void {
      same = false;
      model.push(forModel);
      clients.push(forClients);
    },
    result(): ScannedOutput {
      const whole = join(model);
      return { model: whole, clients: same ? whole : join(clients) };
    },
  };
}

function join(parts: Buffer[]): Buffer {
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
