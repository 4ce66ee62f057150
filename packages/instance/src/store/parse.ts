import type * as z from 'zod';

export type ParsedJson =
  | { state: 'ok'; value: unknown; text: string; version: number | null }
  | { state: 'corrupt'; reason: string };

/**
 * State file bytes as JSON. Invalid UTF-8 is corrupt, not replaced: a later rewrite would make the loss permanent.
 * @returns `version` of the top-level object when it is a number, so that it can be judged before anything else
 */
export function parseJsonBytes(bytes: Uint8Array): ParsedJson {
  if (bytes.length === 0) return { state: 'corrupt', reason: 'the file is empty' };
  if (bytes.every((byte) => byte === 0)) return { state: 'corrupt', reason: 'the file holds only NUL bytes' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const version = (value as { version?: unknown } | null)?.version;
    return { state: 'ok', value, text, version: typeof version === 'number' ? version : null };
  } catch {
    return { state: 'corrupt', reason: 'not valid JSON' };
  }
}

/** The first thing that is wrong, with its place, on one line. */
export function describeIssues(error: z.ZodError): string {
  const [first] = error.issues;
  if (first === undefined) return 'invalid';
  const place = first.path.map(String).join('.');
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : '';
  return `${place === '' ? 'document' : place}: ${first.message}${more}`;
}

/** A failed read as the end of a sentence. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
