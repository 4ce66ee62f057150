import { join, resolve } from 'node:path';
import { Doubt } from './doubt.ts';
import { printable } from './names.ts';
import { below, canonical, entriesOf, isInside, isRealDirectory, list, readRegular } from './read.ts';

const ALTERNATES_BYTES = 1024 * 1024;
const MAX_CHAIN = 5;

/**
 * The object directory of a repository, when git reads nothing but files in it: no link, no pipe, and no alternates
 * outside of `allowed`. @throws Doubt otherwise
 */
export function objectDirectory(commonDir: string, allowed: readonly string[]): string {
  const objects = join(commonDir, 'objects');
  inspect(objects, [commonDir, ...allowed], 0);
  return objects;
}

function inspect(objects: string, allowed: readonly string[], depth: number): void {
  if (!isRealDirectory(objects)) throw new Doubt(`${printable(objects)} is not a directory of its own`);
  for (const entry of list(objects) ?? []) {
    if (!/^([0-9a-f]{2}|pack|info)$/.test(entry.name)) continue;
    const path = join(objects, entry.name);
    if (!entry.isDirectory()) throw new Doubt(`${printable(path)} is not a directory of its own`);
    for (const file of entriesOf(path)) {
      if (file.isFile() || (entry.name === 'info' && file.isDirectory())) continue;
      throw new Doubt(`${printable(below(path, file.name))} is not a regular file`);
    }
  }
  const file = readRegular(join(objects, 'info/alternates'), ALTERNATES_BYTES);
  if (file === null) return;
  for (const line of file.bytes.toString('utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const place = line.startsWith('"') ? null : canonical(resolve(objects, line));
    if (place === null || !allowed.some((root) => isInside(place, root)) || depth >= MAX_CHAIN) {
      throw new Doubt(`objects lie outside of the repository: ${printable(line)}`);
    }
    inspect(place, allowed, depth + 1);
  }
}
