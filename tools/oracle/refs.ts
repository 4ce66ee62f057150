import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { childOf, entries, under } from './files.ts';
import { lines } from './plain-git.ts';

/** The git directory of a work tree or of a bare repository; null when there is none. */
export function gitDirOf(dir: string): string | null {
  const dot = join(dir, '.git');
  const stats = lstatSync(dot, { throwIfNoEntry: false });
  if (stats === undefined) return existsSync(join(dir, 'HEAD')) ? dir : null;
  if (stats.isDirectory()) return dot;
  const target = textOf(dot)
    .replace(/^gitdir: /, '')
    .trim();
  return isAbsolute(target) ? target : resolve(dir, target);
}

/** Full name (in bytes) to object of every ref a repository has, by its files; those of a linked worktree as well. */
export function refsOf(dir: string): Map<string, string> {
  const own = gitDirOf(dir);
  const found = new Map<string, string>();
  if (own === null) return found;
  const common = commonDirOf(own);
  for (const line of lines(textOf(join(common, 'packed-refs')))) {
    if (/^[0-9a-f]{40} /.test(line)) found.set(line.slice(41), line.slice(0, 40));
  }
  for (const gitDir of new Set([common, own])) {
    for (const [name, value] of looseRefs(gitDir, 'refs')) {
      const id = value.startsWith('ref: ') ? found.get(value.slice(5)) : value;
      if (id !== undefined) found.set(name, id);
    }
  }
  return found;
}

/** The commit that is checked out; null before the first one. */
export function headOf(dir: string): string | null {
  const gitDir = gitDirOf(dir);
  if (gitDir === null) return null;
  const head = textOf(join(gitDir, 'HEAD')).trim();
  if (!head.startsWith('ref: ')) return head === '' ? null : head;
  return refsOf(dir).get(head.slice(5)) ?? null;
}

/** Short name (in bytes) of the branch that is checked out; null when HEAD is detached. */
export function branchOf(dir: string): string | null {
  const gitDir = gitDirOf(dir);
  const head = gitDir === null ? '' : textOf(join(gitDir, 'HEAD')).trim();
  return head.startsWith('ref: refs/heads/') ? head.slice('ref: refs/heads/'.length) : null;
}

/** Ids of the stash entries of a repository, the oldest first, as its log of them says. */
export function stashesOf(commonDir: string): string[] {
  return lines(textOf(join(commonDir, 'logs/refs/stash'))).map((line) => line.slice(41, 81));
}

/** The git directory whose refs and objects it uses: its own, unless it is a linked worktree. */
export function commonDirOf(gitDir: string): string {
  const said = textOf(join(gitDir, 'commondir')).trim();
  return said === '' ? gitDir : resolve(gitDir, said);
}

function looseRefs(gitDir: string, parent: string): [string, string][] {
  if (!existsSync(under(gitDir, parent))) return [];
  return entries(gitDir, parent).flatMap(({ name, entry }): [string, string][] => {
    const path = childOf(parent, name);
    if (entry.isDirectory()) return looseRefs(gitDir, path);
    return name.endsWith('.lock') ? [] : [[path, readFileSync(under(gitDir, path), 'latin1').trim()]];
  });
}

/** Empty when there is no such file. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
