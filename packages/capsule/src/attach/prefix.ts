import { JackinError } from '@jackin/core';
import { createKeyDecoder, type KeyPress } from './key-decoder.ts';

/** The key that starts a command to jackin itself while attached. */
export interface Prefix {
  /** The byte a terminal sends for it. */
  byte: number;
  /** The key's character, for terminals that were switched to an encoded keyboard. */
  code: number;
}

export interface PrefixParser {
  /**
   * Takes the next bytes from the keyboard. `forward` goes to the session as it is; once `detach` is true the
   * rest of the input is dropped and every later call answers with nothing.
   */
  push(chunk: Uint8Array): { forward: Uint8Array; detach: boolean };
}

const DETACH = 'd'.charCodeAt(0);
/** Keys of their own: as a prefix they would swallow Tab, Enter and Escape. */
const TAKEN = new Set('ijm['.split(''));

/**
 * Reads the name of a prefix key: `C-b`, `C-a`, `C-\`, `C-Space` … (docs/attach.md).
 * @throws JackinError PREFIX_INVALID
 */
export function parsePrefix(name: string): Prefix {
  const key = /^C-(.|space)$/i.exec(name)?.[1]?.toLowerCase();
  const character = key === 'space' ? ' ' : (key ?? '');
  if (!/^[ @a-z\\\][^_]$/.test(character) || TAKEN.has(character)) {
    throw new JackinError({
      code: 'PREFIX_INVALID',
      message: `The prefix key '${name}' is not a control key that can be used.`,
      hint: 'Use C- and a letter other than i, j and m, or C-\\, C-], C-^, C-_, C-Space; the default is C-b.',
      exitCode: 2,
    });
  }
  const code = character.charCodeAt(0);
  return { byte: code & 0x1f, code };
}

/**
 * The keyboard side of an attached terminal: prefix d detaches, prefix prefix is one literal prefix, prefix and
 * anything else is both. Inside a bracketed paste nothing is a key. Every byte but a plain prefix is passed on
 * in the call that brought it, so what comes out never depends on how the input was cut (docs/attach.md).
 */
export function createPrefixParser(prefix: Prefix): PrefixParser {
  const decoder = createKeyDecoder();
  /** `held`: the prefix byte waits here. `seen`: an encoded prefix, already passed on. */
  let state: 'idle' | 'held' | 'seen' | 'detached' = 'idle';

  function plainByte(byte: number, out: number[]): void {
    const before = state;
    state = 'idle';
    if (decoder.inPaste) out.push(byte);
    else if (before !== 'idle' && byte === DETACH) state = 'detached';
    else if (before === 'held') out.push(...(byte === prefix.byte ? [byte] : [prefix.byte, byte]));
    else if (byte === prefix.byte) state = 'held';
    else out.push(byte);
  }

  function encodedKey(key: KeyPress | null): void {
    if (key !== null && (key.released || key.modifierOnly)) return;
    if (key !== null && state === 'seen' && key.code === DETACH && key.modifiers === 'none')
      state = 'detached';
    else if (key !== null && key.code === prefix.code && key.modifiers === 'ctrl') {
      state = state === 'seen' ? 'idle' : 'seen';
    } else state = 'idle';
  }

  function pushByte(byte: number, out: number[]): void {
    const found = decoder.push(byte);
    if (found.kind === 'plain') {
      if (found.afterEscape && state === 'seen') state = 'idle';
      plainByte(byte, out);
      return;
    }
    // A sequence starts: the held prefix was followed by something else, so both go on.
    if (state === 'held') {
      out.push(prefix.byte);
      state = 'idle';
    }
    out.push(byte);
    if (found.kind === 'sequence') encodedKey(decoder.inPaste ? null : found.key);
  }

  return {
    push(chunk) {
      const out: number[] = [];
      for (const byte of chunk) {
        if (state === 'detached') break;
        pushByte(byte, out);
      }
      return { forward: Uint8Array.from(out), detach: state === 'detached' };
    },
  };
}
