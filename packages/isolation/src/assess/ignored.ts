import { basename } from 'node:path/posix';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IgnoredEvidence } from '../types.ts';
import { BUILD_DIRECTORIES, DEPENDENCY_DIRECTORIES } from './directories.ts';
import { Doubt } from './doubt.ts';
import type { AssessLimits } from './limits.ts';
import { byName, fileName } from './names.ts';
import { below, entriesOf, look } from './read.ts';

const MAX_NAMES = 1_000;
const TURN_ENTRIES = 2_000;

/**
 * What git ignores, as information: files counted and the first of them named, directories of dependencies and builds
 * only named. Repositories are not entered; they have evidence of their own.
 * @param ignored as git status names it, directories with a slash at the end
 * @throws Doubt beyond the bounds
 */
export async function ignoredFiles(
  tree: string,
  ignored: readonly string[],
  repositories: ReadonlySet<string>,
  options: { limits: AssessLimits; signal?: AbortSignal | undefined },
): Promise<IgnoredEvidence> {
  const { limits, signal } = options;
  const files: string[] = [];
  const directories: string[] = [];
  let count = 0;
  let bytes = 0;
  let largest: { name: string; bytes: number } | null = null;
  let looked = 0;
  const endsAt = performance.now() + limits.walkMs;
  const waiting = [...ignored].sort(byName).reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    looked += 1;
    if (looked > limits.entries || performance.now() > endsAt) {
      throw new Doubt('ignored files could not be counted within the bounds');
    }
    if (looked % TURN_ENTRIES === 0) {
      await nextTurn();
      signal?.throwIfAborted();
    }
    const name = next.replace(/\/$/, '');
    if (repositories.has(name)) continue;
    const stats = look(below(tree, name));
    if (stats === null) continue;
    if (!stats.isDirectory()) {
      const size = Number(stats.size);
      count += 1;
      bytes += size;
      if (files.length < MAX_NAMES) files.push(name);
      if (largest === null || size > largest.bytes) largest = { name, bytes: size };
    } else if (DEPENDENCY_DIRECTORIES.has(basename(name)) || BUILD_DIRECTORIES.has(basename(name))) {
      directories.push(name);
    } else {
      const children = entriesOf(below(tree, name)).map((entry) => `${name}/${entry.name}`);
      waiting.push(
        ...children
          .filter((child) => basename(child) !== '.git')
          .sort(byName)
          .reverse(),
      );
    }
  }
  return {
    count,
    bytes,
    largest: largest === null ? null : { ...fileName(largest.name), bytes: largest.bytes },
    files: files.map(fileName),
    directories: directories.map(fileName),
  };
}

export function nothingIgnored(): IgnoredEvidence {
  return { count: 0, bytes: 0, largest: null, files: [], directories: [] };
}
