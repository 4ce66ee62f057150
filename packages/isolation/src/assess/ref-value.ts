import { Doubt } from './doubt.ts';
import { printable } from './names.ts';
import { type AnyPath, readRegular } from './read.ts';

/** What the file of a ref holds. */
export type RefValue = { id: string } | { symbolic: string };

export const REF_BYTES = 4096;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Null when there is none. @throws Doubt for one that is a link, or holds anything else */
export function readRefValue(path: AnyPath): RefValue | null {
  const read = readRegular(path, REF_BYTES);
  if (read === null) return null;
  const value = refValueOf(read.bytes.toString('latin1'));
  if (value === null) throw new Doubt(`the ref ${printable(path)} is damaged`);
  return value;
}

/** Null for content that is no ref's. */
export function refValueOf(content: string): RefValue | null {
  const line = content.trimEnd();
  if (OBJECT_ID.test(line)) return { id: line };
  const symbolic = /^ref:\s*(\S[^\n\0]*)$/.exec(line)?.[1];
  return symbolic === undefined ? null : { symbolic };
}
