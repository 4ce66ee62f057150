import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Assessment, PathView } from '../types.ts';
import type { AssessOptions } from './context.ts';
import { Doubt } from './doubt.ts';
import { printable } from './names.ts';
import { canonical, isInside, isRealDirectory, list, look, readRegular } from './read.ts';

export interface Repository {
  /** Canonical; null for a repository without a work tree. */
  tree: string | null;
  /** Its own git directory. */
  gitDir: string;
  /** Where refs and objects are; the same but for a linked worktree. */
  commonDir: string;
  kind: Assessment['kind'];
  /** Reached by a pointer nothing points back to yet: `core.worktree` has to. */
  needsWorktreeSetting: boolean;
}

export interface OpenOptions {
  expected?: NonNullable<AssessOptions['expected']> | undefined;
  views: readonly PathView[];
  /** A directory above: no part of the path below it may be a link. */
  root?: string | null | undefined;
  /** Canonical directories a nested repository may use: the outermost tree and the git directories around it. */
  around?: readonly string[] | undefined;
}

const POINTER_BYTES = 64 * 1024;

/**
 * Finds the repository of exactly this path, by our own reading: never that of a directory above, and nothing a tree's
 * files point to unless it points back (docs/isolation.md#git-on-the-host).
 * @throws Doubt for everything else
 */
export function openRepository(path: string, options: OpenOptions): Repository {
  const place = placeOf(resolve(path), options);
  const dotGit = join(place, '.git');
  const stats = look(dotGit);
  if (stats === null) return bareRepository(place, options);
  if (stats.isDirectory()) return ownRepository(place, dotGit, options);
  if (!stats.isFile()) throw new Doubt(`${printable(dotGit)} is neither a directory nor a file`);
  return pointedRepository(place, dotGit, options);
}

/** Names a text from a git file may mean, written on the host or under one of the names inside a container. */
export function meanings(text: string, from: string, views: readonly PathView[]): string[] {
  const found = [isAbsolute(text) ? text : resolve(from, text)];
  for (const { inside, host } of views) {
    if (!isAbsolute(inside) || inside === '/') continue;
    const base = isInside(from, host) ? resolve(inside, `.${from.slice(host.length)}`) : null;
    const within = isAbsolute(text) ? resolve(text) : base === null ? null : resolve(base, text);
    if (within === null) continue;
    for (const view of views) {
      if (view.inside !== '/' && isInside(within, view.inside)) {
        found.push(resolve(view.host, `.${within.slice(view.inside.length)}`));
      }
    }
  }
  return [...new Set(found)];
}

/** A path a git file names, one line. */
export function pathIn(file: string, prefix = ''): string | null {
  const read = readRegular(file, POINTER_BYTES);
  if (read === null) return null;
  const text = read.bytes.toString('utf8').replace(/[\r\n]+$/, '');
  if (!text.startsWith(prefix) || text.includes('\0')) throw new Doubt(`${printable(file)} names no path`);
  return text.slice(prefix.length);
}

function placeOf(path: string, { expected, root = expected?.root ?? null }: OpenOptions): string {
  const stats = look(path);
  if (stats === null) throw new Doubt('the tree is missing');
  if (stats.isSymbolicLink() && expected !== undefined) {
    throw new Doubt('the tree was replaced by a symbolic link');
  }
  const real = canonical(path);
  if (real === null) throw new Doubt('the tree is missing');
  if (root !== null && resolve(canonical(root) ?? root, relative(root, path)) !== real) {
    throw new Doubt('a directory above the tree was replaced by a symbolic link');
  }
  if (basename(real) === '.git') {
    const above = dirname(real);
    if (look(real)?.isFile() === true || isGitDirectory(real)) return above;
  }
  if (look(real)?.isDirectory() !== true) throw new Doubt(`${printable(real)} is not a directory`);
  return real;
}

/** The layout git asks for itself. */
export function isGitDirectory(path: string): boolean {
  return (
    look(join(path, 'HEAD')) !== null &&
    look(join(path, 'objects')) !== null &&
    look(join(path, 'refs')) !== null
  );
}

function ownRepository(tree: string, gitDir: string, { expected, around }: OpenOptions): Repository {
  if (expected?.kind === 'worktree') throw new Doubt('the tree is no longer a linked worktree');
  if (list(gitDir)?.length === 0) throw new Doubt(`${printable(gitDir)} is empty`);
  if (!isGitDirectory(gitDir)) throw new Doubt(`${printable(gitDir)} is not a git directory`);
  if (look(join(gitDir, 'commondir')) !== null)
    throw new Doubt(`${printable(gitDir)} leads outside (commondir)`);
  const kind = expected?.kind === 'clone' ? 'clone' : 'repository';
  if (!isAllowed(gitDir, around)) throw new Doubt(`${printable(gitDir)} leads outside`);
  return { tree, gitDir, commonDir: gitDir, kind, needsWorktreeSetting: false };
}

function pointedRepository(tree: string, dotGit: string, options: OpenOptions): Repository {
  const { expected, views, around } = options;
  if (expected?.kind === 'clone') throw new Doubt('the tree is no longer a clone of its own');
  const named = pathIn(dotGit, 'gitdir: ');
  if (named === null || named === '') throw new Doubt(`${printable(dotGit)} names no repository`);
  const places = meanings(named, tree, views)
    .map((place) => canonical(place))
    .filter((place): place is string => place !== null);
  const [first] = places;
  if (first === undefined) throw new Doubt(`the repository it belongs to is not there: ${printable(named)}`);
  for (const gitDir of places) {
    if (!isRealDirectory(gitDir)) continue;
    const commonDir = dirname(dirname(gitDir));
    if (basename(dirname(gitDir)) === 'worktrees' && isGitDirectory(commonDir)) {
      // In this order: what is not to be looked at is not read either.
      if (!isExpected(commonDir, expected) || !isAllowed(commonDir, around)) continue;
      if (!pointsBack(gitDir, commonDir, tree, views)) continue;
      if (look(join(commonDir, 'commondir')) !== null)
        throw new Doubt(`${printable(commonDir)} leads outside (commondir)`);
      return { tree, gitDir, commonDir, kind: 'worktree', needsWorktreeSetting: false };
    }
    if (expected !== undefined || !isGitDirectory(gitDir) || look(join(gitDir, 'commondir')) !== null)
      continue;
    if (isAllowed(gitDir, around))
      return { tree, gitDir, commonDir: gitDir, kind: 'submodule', needsWorktreeSetting: true };
  }
  throw new Doubt(`${printable(dotGit)} leads outside: ${printable(named)}`);
}

/** A registration names its tree, on the host or under its name in a container, and its repository. */
function pointsBack(gitDir: string, commonDir: string, tree: string, views: readonly PathView[]): boolean {
  const common = pathIn(join(gitDir, 'commondir'));
  const back = pathIn(join(gitDir, 'gitdir'));
  if (common === null || back === null) return false;
  if (!meanings(common, gitDir, views).some((place) => canonical(place) === commonDir)) return false;
  return meanings(back, gitDir, views).some(
    (place) => basename(place) === '.git' && canonical(dirname(place)) === tree,
  );
}

function isExpected(commonDir: string, expected: OpenOptions['expected']): boolean {
  if (expected?.commonDir === undefined || expected.commonDir === null) return true;
  return canonical(expected.commonDir) === commonDir;
}

function isAllowed(path: string, around: OpenOptions['around']): boolean {
  return around === undefined || around.some((root) => isInside(path, root));
}

function bareRepository(path: string, { expected, around }: OpenOptions): Repository {
  if (expected !== undefined) throw new Doubt('there is no .git in the tree');
  if (!isGitDirectory(path)) throw new Doubt(`there is no repository at ${printable(path)}`);
  if (look(join(path, 'commondir')) !== null) throw new Doubt(`${printable(path)} leads outside (commondir)`);
  if (!isAllowed(path, around)) throw new Doubt(`${printable(path)} leads outside`);
  return {
    tree: null,
    gitDir: path,
    commonDir: path,
    kind: 'repository',
    needsWorktreeSetting: false,
  };
}
