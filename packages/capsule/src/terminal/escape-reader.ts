import { type ControlString, classifyCsi } from './queries.ts';

export const ESC = 0x1b;
export const CAN = 0x18;
export const SUB = 0x1a;
export const ENQ = 0x05;
/** First byte of a C1 control in UTF-8; the second is the control itself. */
export const C1_LEAD = 0xc2;

/** What stands at the beginning of `bytes` from a position on. */
export type Reading =
  | { state: 'incomplete' }
  /** Complete; `clients` replaces it for clients. */
  | { state: 'sequence'; end: number; clients: 'all' | Buffer }
  /** A control string begins; its content starts at `body`. */
  | { state: 'string'; kind: ControlString; body: number };

const CSI_OPEN = 0x5b;
const STRING_OPEN = new Map<number, ControlString>([
  [0x5d, 'osc'],
  [0x50, 'dcs'],
  [0x5f, 'apc'],
  [0x58, 'other'],
  [0x5e, 'other'],
]);

/**
 * Reads one escape sequence or C1 control that starts at `start`, by the transitions of a VT500 parser: an ESC
 * inside starts over, CAN and SUB cancel, other controls are executed and stay inside.
 */
export function readEscape(bytes: Buffer, start: number): Reading {
  let state: 'escape' | 'intermediate' | 'csi' = 'escape';
  let csiBody = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === ESC) {
      state = 'escape';
      at += 1;
      continue;
    }
    if (byte === C1_LEAD) {
      const control = bytes[at + 1];
      if (control === undefined) return { state: 'incomplete' };
      if (control < 0x80 || control > 0x9f) return whole(at === start ? at + 2 : at);
      // ESC and the byte 64 below is the seven-bit form of a C1 control.
      const opened = open(control - 0x40, at + 2);
      if (opened === 'csi') {
        state = 'csi';
        csiBody = at + 2;
        at += 2;
        continue;
      }
      return opened ?? ended(bytes, start, at + 2, control - 0x40);
    }
    if (byte === CAN || byte === SUB) return whole(at + 1);
    if (byte >= 0x80) return whole(at);
    at += 1;
    if (byte < 0x20 || byte === 0x7f) continue;
    if (state === 'csi') {
      if (byte < 0x40) continue;
      return endedCsi(bytes, start, at, csiBody);
    }
    if (byte < 0x30) {
      state = 'intermediate';
      continue;
    }
    const opened = state === 'escape' ? open(byte, at) : null;
    if (opened !== 'csi') return opened ?? ended(bytes, start, at, state === 'escape' ? byte : 0);
    state = 'csi';
    csiBody = at;
  }
  return { state: 'incomplete' };
}

/** Executed controls of a sequence that is left out; ENQ, the oldest query, is none of them. */
function controlsIn(bytes: Buffer, start: number, end: number): Buffer {
  return Buffer.from(
    bytes.subarray(start, end).filter((byte) => byte < 0x20 && byte !== ESC && byte !== ENQ),
  );
}

function open(byte: number, body: number): Reading | 'csi' | null {
  if (byte === CSI_OPEN) return 'csi';
  const kind = STRING_OPEN.get(byte);
  return kind === undefined ? null : { state: 'string', kind, body };
}

function whole(end: number): Reading {
  return { state: 'sequence', end, clients: 'all' };
}

/** ESC Z asks who the terminal is. */
function ended(bytes: Buffer, start: number, end: number, final: number): Reading {
  if (final === 0x5a) return { state: 'sequence', end, clients: controlsIn(bytes, start, end) };
  return forwarded(bytes, start, end);
}

function endedCsi(bytes: Buffer, start: number, end: number, body: number): Reading {
  const verdict = classifyCsi(bytes.toString('latin1', body, end));
  if (verdict.forward === 'all') return forwarded(bytes, start, end);
  const controls = controlsIn(bytes, start, end);
  const clients =
    verdict.forward === 'instead' ? Buffer.concat([controls, Buffer.from(verdict.text)]) : controls;
  return { state: 'sequence', end, clients };
}

function forwarded(bytes: Buffer, start: number, end: number): Reading {
  const sequence = bytes.subarray(start, end);
  if (!sequence.includes(ENQ)) return whole(end);
  return { state: 'sequence', end, clients: Buffer.from(sequence.filter((byte) => byte !== ENQ)) };
}
