import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { childOf, entries, under } from './files.ts';

/**
 * Copies a directory with everything in it: names, contents, links, permissions and the times of files: git takes a file
 * that is older than its last change for unchanged where it should look, and an exit may not.
 */
export function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  copyInside(from, to, '');
}

function copyInside(from: string, to: string, parent: string): void {
  for (const { name, entry } of entries(from, parent)) {
    const path = childOf(parent, name);
    const [source, target] = [under(from, path), under(to, path)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source, 'buffer'), target);
    else if (entry.isDirectory()) {
      mkdirSync(target);
      copyInside(from, to, path);
      chmodSync(target, lstatSync(source).mode & 0o7777);
    } else if (entry.isFile()) {
      // With its permissions.
      copyFileSync(source, target);
      const { atime, mtime } = lstatSync(source);
      utimesSync(target, atime, mtime);
    } else throw new Error(`${path} cannot be copied`);
  }
}
