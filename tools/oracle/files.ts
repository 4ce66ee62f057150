import { createHash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A path in bytes below a directory, for the file system. */
export function under(dir: string, bytes: string): Buffer {
  return bytes === ''
    ? Buffer.from(dir)
    : Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(bytes, 'latin1')]);
}

/** What is directly in a directory; names are bytes. */
export function entries(dir: string, bytes: string): { name: string; entry: Dirent<Buffer> }[] {
  return readdirSync(under(dir, bytes), { withFileTypes: true, encoding: 'buffer' }).map((entry) => ({
    name: entry.name.toString('latin1'),
    entry,
  }));
}

export function childOf(parent: string, name: string): string {
  return parent === '' ? name : `${parent}/${name}`;
}

/** Everything below `dir`, by name, with kind, permission bits and content. `without` leaves out what it names. */
export function inventory(
  dir: string,
  without: (path: string) => boolean = () => false,
): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (parent: string): void => {
    for (const { name, entry } of entries(dir, parent)) {
      const path = childOf(parent, name);
      if (without(path)) continue;
      const mode = (lstatSync(under(dir, path)).mode & 0o7777).toString(8);
      if (entry.isDirectory()) {
        found.set(path, `directory ${mode}`);
        walk(path);
      } else if (entry.isSymbolicLink()) {
        found.set(path, `link ${readlinkSync(under(dir, path), 'buffer').toString('latin1')}`);
      } else if (entry.isFile()) {
        found.set(path, `file ${mode} ${sha1(readFileSync(under(dir, path)))}`);
      } else found.set(path, 'special');
    }
  };
  walk('');
  return found;
}

/** What two inventories differ in, one line each. */
export function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  return [
    ...[...before].filter(([path]) => !after.has(path)).map(([path]) => `${shown(path)} is gone`),
    ...[...before]
      .filter(([path, what]) => after.has(path) && after.get(path) !== what)
      .map(([path]) => `${shown(path)} changed`),
    ...[...after.keys()].filter((path) => !before.has(path)).map((path) => `${shown(path)} is new`),
  ];
}

/** The id git gives a file's content. */
export function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** A name in bytes on one line. */
export function shown(bytes: string): string {
  return JSON.stringify(Buffer.from(bytes, 'latin1').toString('utf8'));
}

function sha1(content: Buffer): string {
  return createHash('sha1').update(content).digest('hex');
}
