import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, type JackinPaths } from '@jackin/core';
import type { InstanceDocument } from '../jackin.ts';

const BLOCK_BYTES = 512;
/** A home can hold millions of files; the answer then is "unknown", not a command that never ends. */
const MAX_ENTRIES = 2_000_000;

/** What an instance takes on disk; null where it could not be measured. */
export async function sizesOf(
  paths: JackinPaths,
  base: string,
): Promise<NonNullable<InstanceDocument['sizes']>> {
  const place = paths.instance(base);
  const [data, sockets] = await Promise.all([measure(place.dir), measure(place.sockets)]);
  return { data_bytes: data, total_bytes: data === null || sockets === null ? null : data + sockets };
}

/** Follows no link, counts a file with several names in it once, and passes over what vanishes meanwhile. */
async function measure(root: string): Promise<number | null> {
  const counted = new Set<string>();
  const waiting = [root];
  let total = 0;
  let entries = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (++entries > MAX_ENTRIES) return null;
    try {
      const stats = await lstat(path);
      if (stats.nlink > 1 && !stats.isDirectory()) {
        const key = `${stats.dev}:${stats.ino}`;
        if (counted.has(key)) continue;
        counted.add(key);
      }
      total += stats.blocks * BLOCK_BYTES;
      if (!stats.isDirectory()) continue;
      for await (const entry of await opendir(path)) waiting.push(join(path, entry.name));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') return null;
    }
  }
  return total;
}
