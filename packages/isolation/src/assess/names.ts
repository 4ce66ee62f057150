import type { FileName } from '../types.ts';

/** Names are bytes throughout, kept as latin1 strings: one character per byte. Here they become what is shown. */
export function fileName(bytes: string): FileName {
  const buffer = Buffer.from(bytes, 'latin1');
  const path = buffer.toString('utf8');
  if (Buffer.from(path, 'utf8').equals(buffer)) return { path, path_is_lossy: false };
  return { path, path_is_lossy: true, path_base64: buffer.toString('base64') };
}

/** As text, lossy where it is none. */
export function text(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** For a reason: one line without control characters. */
export function printable(path: string | Buffer): string {
  return path.toString('utf8').replace(/\p{Cc}/gu, '?');
}

export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
