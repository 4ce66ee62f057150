/** A key press found in an escape sequence (kitty keyboard protocol, xterm's modifyOtherKeys). */
export interface KeyPress {
  /** The key's character code without modifiers. */
  code: number;
  modifiers: 'none' | 'ctrl' | 'other';
  released: boolean;
  /** Shift, Ctrl, a lock key … pressed by itself. */
  modifierOnly: boolean;
}

export type Decoded =
  /** Not part of a sequence we follow. `afterEscape`: the byte before it was ESC. */
  { kind: 'plain'; afterEscape: boolean } | { kind: 'partial' } | { kind: 'sequence'; key: KeyPress | null };

export interface KeyDecoder {
  readonly inPaste: boolean;
  push(byte: number): Decoded;
}

const ESC = 0x1b;
const CSI_INTRODUCER = '['.charCodeAt(0);
const PASTE_START = '200';
const PASTE_END = '201';
/** Longer parameters belong to no key; the sequence is still followed to its end. */
const MAX_PARAMETERS = 64;
const PARTIAL: Decoded = { kind: 'partial' };
/** Ctrl is bit 2; the lock keys (bits 6 and 7) say nothing about what was pressed. */
const LOCKS = 0b1100_0000;
const CTRL = 0b100;
/** Private-use codes the kitty protocol gives to Shift, Ctrl, Alt, Super … and the lock keys. */
const MODIFIER_CODES: readonly [number, number][] = [
  [57358, 57360],
  [57441, 57454],
];

/**
 * Follows the control sequences in keyboard input byte by byte: bracketed paste, and keys of a terminal whose
 * keyboard the session switched to escape codes. Inside a paste only its end marker is a sequence.
 */
export function createKeyDecoder(): KeyDecoder {
  let phase: 'ground' | 'escape' | 'csi' = 'ground';
  let parameters = '';
  let inPaste = false;

  function sequence(final: string): Decoded {
    if (final === '~' && parameters === (inPaste ? PASTE_END : PASTE_START)) {
      inPaste = !inPaste;
      return { kind: 'sequence', key: null };
    }
    return { kind: 'sequence', key: inPaste ? null : decodeKey(parameters, final) };
  }

  return {
    get inPaste() {
      return inPaste;
    },
    push(byte) {
      const before = phase;
      phase = 'ground';
      if (byte === ESC) {
        phase = 'escape';
        parameters = '';
        return PARTIAL;
      }
      if (before === 'escape' && byte === CSI_INTRODUCER) {
        phase = 'csi';
        return PARTIAL;
      }
      if (before === 'csi' && byte >= 0x20 && byte <= 0x3f) {
        phase = 'csi';
        if (parameters.length < MAX_PARAMETERS) parameters += String.fromCharCode(byte);
        return PARTIAL;
      }
      if (before === 'csi' && byte >= 0x40 && byte <= 0x7e) return sequence(String.fromCharCode(byte));
      return { kind: 'plain', afterEscape: before === 'escape' };
    },
  };
}

/** `CSI code[:…] ; modifiers[:event] u` or `CSI 27 ; modifiers ; code ~`. */
function decodeKey(parameters: string, final: string): KeyPress | null {
  const fields = parameters.split(';').map((field) => field.split(':').map(Number));
  if (final === 'u') return keyPress(fields[0]?.[0], fields[1]?.[0], fields[1]?.[1]);
  if (final === '~' && fields[0]?.[0] === 27) return keyPress(fields[2]?.[0], fields[1]?.[0], undefined);
  return null;
}

function keyPress(code = Number.NaN, modifiers = 1, event = 1): KeyPress | null {
  if (!Number.isInteger(code)) return null;
  const pressed = ((modifiers || 1) - 1) & ~LOCKS;
  return {
    code,
    modifiers: pressed === 0 ? 'none' : pressed === CTRL ? 'ctrl' : 'other',
    released: event === 3,
    modifierOnly: MODIFIER_CODES.some(([from, to]) => code >= from && code <= to),
  };
}
