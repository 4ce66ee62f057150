import { createHash } from 'node:crypto';
import { byPath, type ContextEntry } from './context.ts';

export interface ContentInput {
  entries: readonly ContextEntry[];
  /** Relative path of the Dockerfile, and what is written in it and in the manifest, left out or not. */
  dockerfile: string;
  dockerfileText: string;
  manifestText: string;
}

export interface ContextInput extends ContentInput {
  /** The Dockerfile that is built, with everything that is put behind the role's own. */
  derived: string;
  args: Readonly<Record<string, string>>;
  roleKey: string;
}

/** What a role that is a plain directory is pinned by: every path, byte, mode, owner and link. Hex digits. */
export function contentHash(input: ContentInput): string {
  const hash = createHash('sha256');
  for (const record of contentRecords(input)) hash.update(`${JSON.stringify(record)}\n`);
  return hash.digest('hex');
}

/** The same and everything else an image of it depends on: user, arguments and key. Hex digits. */
export function contextHash(input: ContextInput): string {
  const args = Object.entries(input.args).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256');
  for (const record of [
    ...contentRecords(input),
    ['derived', input.derived],
    ['args', args],
    ['role', input.roleKey],
  ]) {
    hash.update(`${JSON.stringify(record)}\n`);
  }
  return hash.digest('hex');
}

/** JSON arrays on lines of their own: no two inputs have the same text. */
function* contentRecords(input: ContentInput): Generator<unknown[]> {
  yield ['jackin image', 1];
  for (const entry of [...input.entries].sort(byPath)) {
    const { path, type, mode, uid, gid } = entry;
    const content =
      entry.type === 'file' ? [entry.size, entry.digest] : entry.type === 'symlink' ? [entry.target] : [];
    yield ['entry', path, type, mode, uid, gid, ...content];
  }
  yield ['dockerfile', input.dockerfile, input.dockerfileText];
  yield ['manifest', input.manifestText];
}
