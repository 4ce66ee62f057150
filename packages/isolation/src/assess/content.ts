import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { errorCode } from '@jackin/core';
import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import { below, isRealDirectory, look } from './read.ts';

export interface Wanted {
  /** Bytes as latin1. */
  path: string;
  mode: string;
  /** Of the blob it is compared with. */
  id: string;
}

/** What there is in the tree, compared with a blob; `mode` when only the permission bits differ. */
export type Compared = 'same' | 'mode' | 'content' | 'missing' | 'type';

const SYMLINK = '120000';

/**
 * Compares files with blobs, as git would read them, never through a link.
 * @throws Doubt when git cannot tell
 */
export async function compareContent(
  git: GitCalls,
  tree: string,
  wanted: readonly Wanted[],
  options: { format: 'sha1' | 'sha256'; fileMode: boolean },
): Promise<Map<string, Compared>> {
  const found = new Map<string, Compared>();
  const toHash: { file: Wanted; executable: boolean }[] = [];
  const real = new Map<string, boolean>();
  for (const file of wanted) {
    const stats = parentsAreReal(tree, file.path, real) ? look(below(tree, file.path)) : null;
    if (stats === null) {
      found.set(file.path, 'missing');
    } else if (stats.isSymbolicLink()) {
      const same = file.mode === SYMLINK && linkId(tree, file.path, options.format) === file.id;
      found.set(file.path, same ? 'same' : file.mode === SYMLINK ? 'content' : 'type');
    } else if (!stats.isFile()) {
      found.set(file.path, 'type');
    } else {
      toHash.push({ file, executable: (stats.mode & 0o100n) !== 0n });
    }
  }
  if (toHash.length === 0) return found;
  const ids = await hash(git, tree, toHash.map(pathOf));
  const others = toHash.filter(({ file }, at) => ids[at] !== file.id);
  // Git leaves line ends alone that are in the blob already, which a conversion without the index does not know.
  const plain = others.length === 0 ? [] : await hash(git, tree, others.map(pathOf), ['--no-filters']);
  const differs = new Set(others.filter(({ file }, at) => plain[at] !== file.id));
  for (const entry of toHash) {
    const { file, executable } = entry;
    const modeDiffers = options.fileMode && file.mode !== SYMLINK && executable !== (file.mode === '100755');
    found.set(file.path, differs.has(entry) ? 'content' : modeDiffers ? 'mode' : 'same');
  }
  return found;
}

function pathOf({ file }: { file: Wanted }): string {
  return file.path;
}

async function hash(
  git: GitCalls,
  tree: string,
  paths: readonly string[],
  more: readonly string[] = [],
): Promise<string[]> {
  const input = Buffer.from(paths.map((path) => `${quoted(path)}\n`).join(''), 'latin1');
  const output = await git.run('git hash-object', ['hash-object', ...more, '--stdin-paths'], {
    input,
    cwd: tree,
  });
  const ids = output.toString('latin1').split('\n');
  if (ids.pop() !== '' || ids.length !== paths.length || !ids.every((id) => /^[0-9a-f]{40,64}$/.test(id))) {
    throw new Doubt('git hash-object did not answer completely');
  }
  return ids;
}

/** As git unquotes a line that begins with a quotation mark. */
function quoted(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names hold any byte
  if (!/["\\\x00-\x1f\x7f]|^ | $/.test(path)) return path;
  const escaped = path.replace(/["\\]/g, '\\$&');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names hold any byte
  return `"${escaped.replace(/[\x00-\x1f\x7f]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}

function parentsAreReal(tree: string, path: string, known: Map<string, boolean>): boolean {
  const parent = dirname(path);
  if (parent === '.') return true;
  const before = known.get(parent);
  if (before !== undefined) return before;
  const real = parentsAreReal(tree, parent, known) && isRealDirectory(below(tree, parent));
  known.set(parent, real);
  return real;
}

function linkId(tree: string, path: string, format: 'sha1' | 'sha256'): string {
  try {
    const target = readlinkSync(below(tree, path), { encoding: 'buffer' });
    return createHash(format).update(`blob ${target.length}\0`).update(target).digest('hex');
  } catch (error) {
    throw new Doubt(`a link cannot be read (${errorCode(error)})`);
  }
}
