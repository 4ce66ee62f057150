import { Doubt } from './doubt.ts';

export interface IndexEntry {
  /** Bytes as latin1. */
  path: string;
  mode: string;
  id: string;
  skipWorktree: boolean;
  assumeUnchanged: boolean;
}

/** A file whose content is older than the last change of it: git, which compares whole seconds, may miss the next one. */
export interface AgedEntry {
  /** Bytes as latin1. */
  path: string;
  mode: string;
  id: string;
  /** When it was changed last, as git noted it; null where that is not known. */
  changed: { s: number; ns: number } | null;
}

/** What the index of a tree says, without one object per file of it. */
export interface Index {
  /** Repositories recorded in it, and whatever it was told not to look at. */
  special: readonly IndexEntry[];
  aged: readonly AgedEntry[];
  /** All of its paths, in its own order, which is that of their bytes. Computed when asked for. */
  paths(): readonly string[];
}

export const GITLINK = '160000';
export const EMPTY_INDEX: Index = { special: [], aged: [], paths: () => [] };

const HEADER = 12;
const STAT = 40;
const GITLINK_MODE = 0o160000;
const ASSUME_UNCHANGED = 0x8000;
const EXTENDED = 0x4000;
const SKIP_WORKTREE = 0x4000;

/** Entries by the header. @throws Doubt when it is no index */
export function countedEntries(bytes: Buffer): number {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC')
    throw new Doubt('the index is damaged');
  return bytes.readUInt32BE(8);
}

/**
 * Reads an index (gitformat-index, versions 2 to 4); whether it is sound is for git to say, which reads it, too.
 * @returns null for one that only git can put together: split, sparse, or of a version to come
 * @throws Doubt when it is damaged
 */
export function parseIndex(bytes: Buffer, format: 'sha1' | 'sha256'): Index | null {
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  const idBytes = format === 'sha1' ? 20 : 32;
  const special: IndexEntry[] = [];
  const aged: AgedEntry[] = [];
  const scan = (visit: Visit) => scanEntries(bytes, version, idBytes, visit);
  const end = scan((at, flags, extended, path) => {
    const mode = bytes.readUInt32BE(at + 24);
    const assumeUnchanged = (flags & ASSUME_UNCHANGED) !== 0;
    const skipWorktree = (extended & SKIP_WORKTREE) !== 0;
    const isSpecial = mode === GITLINK_MODE || assumeUnchanged || skipWorktree;
    const [changedS, writtenS] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 8)];
    if (!isSpecial && changedS <= writtenS) return;
    const entry = {
      path: path(),
      mode: mode.toString(8).padStart(6, '0'),
      id: bytes.toString('hex', at + STAT, at + STAT + idBytes),
    };
    if (isSpecial) special.push({ ...entry, skipWorktree, assumeUnchanged });
    else aged.push({ ...entry, changed: { s: changedS, ns: bytes.readUInt32BE(at + 4) } });
  });
  if (needsGit(bytes, end, idBytes)) return null;
  let all: string[] | null = null;
  const paths = () => {
    if (all !== null) return all;
    const names: string[] = [];
    scan((_at, _flags, _extended, path) => names.push(path()));
    all = names;
    return names;
  };
  return { special, aged, paths };
}

/** Whether `path` is in the index. */
export function isTracked(index: Index, path: string): boolean {
  const paths = index.paths();
  return paths[firstNotBefore(paths, path)] === path;
}

/** Whether anything below a directory is in the index. */
export function hasTracked(index: Index, directory: string): boolean {
  const paths = index.paths();
  return paths[firstNotBefore(paths, `${directory}/`)]?.startsWith(`${directory}/`) === true;
}

type Visit = (at: number, flags: number, extended: number, path: () => string) => void;

/** Visits every entry; answers where they end. */
function scanEntries(bytes: Buffer, version: number, idBytes: number, visit: Visit): number {
  const count = countedEntries(bytes);
  let at = HEADER;
  let previous = '';
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + STAT + idBytes;
    if (flagsAt + 4 > bytes.length) throw new Doubt('the index is damaged');
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = version >= 3 && (flags & EXTENDED) !== 0;
    const extended = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0;
    let nameAt = flagsAt + (isExtended ? 4 : 2);
    let kept = '';
    if (version === 4) {
      const removed = varint(bytes, nameAt);
      nameAt = removed.next;
      kept = previous.slice(0, Math.max(0, previous.length - removed.value));
    }
    const end = bytes.indexOf(0, nameAt);
    if (end < 0) throw new Doubt('the index is damaged');
    if (version === 4) {
      previous = kept + bytes.toString('latin1', nameAt, end);
      const path = previous;
      visit(at, flags, extended, () => path);
      at = end + 1;
    } else {
      const from = nameAt;
      visit(at, flags, extended, () => bytes.toString('latin1', from, end));
      // One to eight NUL bytes, so that each entry is a multiple of eight.
      at += (end - at + 8) & ~7;
    }
  }
  return at;
}

/** As git writes the length of what a name has not in common with the one before it. */
function varint(bytes: Buffer, from: number): { value: number; next: number } {
  let at = from;
  let byte = bytes[at] ?? 0;
  let value = byte & 127;
  while ((byte & 128) !== 0) {
    at += 1;
    byte = bytes[at] ?? 0;
    value = (value + 1) * 128 + (byte & 127);
    if (value > bytes.length) throw new Doubt('the index is damaged');
  }
  return { value, next: at + 1 };
}

/** Extensions whose names are lower case change what the entries mean. */
function needsGit(bytes: Buffer, end: number, idBytes: number): boolean {
  let at = end;
  while (at + 8 <= bytes.length - idBytes) {
    if (/^[a-z]/.test(bytes.toString('latin1', at, at + 4))) return true;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return false;
}

function firstNotBefore(sorted: readonly string[], wanted: string): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}
