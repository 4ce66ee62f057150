import { randomBytes } from 'node:crypto';

/** Digits and lower-case letters without i, l, o, u: nothing that is misread or spells a word. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** An instance id: 8 characters, 40 random bits (docs/architecture.md). */
export function newInstanceId(): string {
  return randomText(8);
}

/** Names one terminal session inside an instance: `s` and 9 characters, so that it is never taken for an instance id. */
export function newSessionId(): string {
  return `s${randomText(9)}`;
}

/** 128 random bits in hex. Proves that a stop was asked for by the one who knows it. */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

function randomText(length: number): string {
  // 256 is a multiple of 32, so the remainder is not biased.
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
