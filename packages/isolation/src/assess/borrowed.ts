import { resolve } from 'node:path';
import type { PathView } from '../types.ts';
import { unlessDoubt } from './doubt.ts';
import { meanings } from './git-directory.ts';
import { canonical, isInside, list, readRegular } from './read.ts';

const ALTERNATES_BYTES = 1024 * 1024;
const MAX_STORES = 100;

/**
 * Whether a repository on this machine reads objects, directly or through others, from one of the places that go with a
 * tree: it has nothing by itself then. What cannot be looked at is not looked through.
 */
export function borrowsFrom(
  gitDir: string,
  { within, views }: { within: readonly string[]; views: readonly PathView[] },
): boolean {
  const goes = (place: string) => within.some((root) => isInside(place, root));
  const seen = new Set<string>();
  const waiting = [resolve(gitDir, 'objects')];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const store = unlessDoubt(() => canonical(next ?? ''));
    // Of a place that is not there, the name may be one the tree has in a container.
    if (store === null ? meanings(next, gitDir, views).some(goes) : goes(store)) return true;
    if (store === null || seen.has(store) || seen.size >= MAX_STORES) continue;
    seen.add(store);
    if (linksOf(store).some(goes)) return true;
    waiting.push(...alternatesOf(store, views));
  }
  return false;
}

function alternatesOf(store: string, views: readonly PathView[]): string[] {
  const file = unlessDoubt(() => canonical(`${store}/info/alternates`));
  const read = file === null ? null : unlessDoubt(() => readRegular(file, ALTERNATES_BYTES));
  return (read?.bytes.toString('utf8').split('\n') ?? [])
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => meanings(unquoted(line), store, views));
}

/** Where parts of it that are links lead to. */
function linksOf(store: string): string[] {
  const links = (unlessDoubt(() => list(store)) ?? []).filter((entry) => entry.isSymbolicLink());
  return links.flatMap(({ name }) => unlessDoubt(() => canonical(`${store}/${name}`)) ?? []);
}

/** As git writes a path that has unusual characters. */
function unquoted(line: string): string {
  const inner = /^"(.*)"$/s.exec(line)?.[1];
  if (inner === undefined) return line;
  const bytes = Buffer.from(inner).toString('latin1');
  const plain = bytes.replace(/\\([0-7]{3}|.)/g, (_, what: string) => {
    if (what.length === 3) return String.fromCharCode(Number.parseInt(what, 8) & 0xff);
    return { n: '\n', t: '\t', r: '\r' }[what] ?? what;
  });
  return Buffer.from(plain, 'latin1').toString('utf8');
}
