import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEPENDENCY_DIRECTORIES } from './directories.ts';
import { Doubt } from './doubt.ts';
import type { AssessLimits } from './limits.ts';
import { printable, text } from './names.ts';
import { below, entriesOf, list, look } from './read.ts';

/** What a tree has inside besides files. All names are relative to it, bytes as latin1. */
export interface Walked {
  /** Directories with a `.git` of any kind; not entered. */
  repositories: string[];
  /** Directories that look like a git directory; not entered. */
  bare: string[];
  /** Dependency directories, not entered so far. */
  dependencies: string[];
}

export interface WalkOptions {
  limits: AssessLimits;
  signal?: AbortSignal | undefined;
  /** Dependency directories are entered like any other. */
  everything?: boolean;
}

const TURN_MS = 25;
/** Git opens these wherever they are, and would wait for a pipe. */
const READ_BY_GIT = new Set(['.gitignore', '.gitattributes', '.gitmodules']);
/** A file system that ignores case makes any of them git's own. */
const isDotGit =
  process.platform === 'linux'
    ? (name: string) => name === '.git'
    : (name: string) => name.toLowerCase() === '.git';

/**
 * Looks for repositories in a tree, never through a link. The start itself is not one of them.
 * @throws Doubt when it cannot be read completely within the bounds
 */
export async function walk(tree: string, start: string, options: WalkOptions): Promise<Walked> {
  const { limits, signal, everything = false } = options;
  const found: Walked = { repositories: [], bare: [], dependencies: [] };
  const endsAt = performance.now() + limits.walkMs;
  let turnEndsAt = performance.now() + TURN_MS;
  let entries = 0;
  const waiting = [{ name: start, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, depth } = next;
    if (depth > limits.depth)
      throw new Doubt(`directories lie deeper than ${limits.depth}: ${printable(text(name))}`);
    const children = entriesOf(name === '' ? tree : below(tree, name));
    entries += children.length;
    if (entries > limits.entries) throw new Doubt(`the tree has more than ${limits.entries} entries`);
    if (depth > 0 && isRepository(tree, name, children, found)) continue;
    for (const child of children) {
      if (READ_BY_GIT.has(child.name) && !child.isFile() && !child.isSymbolicLink() && !child.isDirectory()) {
        throw new Doubt(`${printable(text(prefixed(name, child.name)))} is not a regular file`);
      }
      if (!child.isDirectory() || isDotGit(child.name)) continue;
      const full = prefixed(name, child.name);
      if (everything || !DEPENDENCY_DIRECTORIES.has(child.name))
        waiting.push({ name: full, depth: depth + 1 });
      else if (look(below(tree, `${full}/.git`)) === null) found.dependencies.push(full);
      else found.repositories.push(full);
    }
    const now = performance.now();
    if (now > endsAt) throw new Doubt('the tree could not be walked in time');
    if (now < turnEndsAt) continue;
    await nextTurn();
    signal?.throwIfAborted();
    turnEndsAt = performance.now() + TURN_MS;
  }
  return found;
}

function isRepository(
  tree: string,
  name: string,
  children: readonly { name: string; isDirectory(): boolean }[],
  found: Walked,
): boolean {
  const dotGit = children.find((child) => isDotGit(child.name));
  if (dotGit !== undefined) {
    // An empty one is nothing to git, and holds nothing.
    const empty = dotGit.isDirectory() && list(below(tree, prefixed(name, dotGit.name)))?.length === 0;
    if (!empty) found.repositories.push(name);
    return !empty;
  }
  const has = (wanted: string) => children.some((child) => child.name === wanted);
  const bare = has('HEAD') && has('objects') && has('refs');
  if (bare) found.bare.push(name);
  return bare;
}

function prefixed(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
