import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { type GitObject, packedObjects } from './packs.ts';
import { lines } from './plain-git.ts';
import { commonDirOf, gitDirOf, headOf, textOf } from './refs.ts';

export interface Commit {
  id: string;
  tree: string;
  parents: string[];
}

/** The objects of a repository by its files: no git is asked, and none has to be started. */
export interface Objects {
  has(id: string): boolean;
  /**
   * Null when it is not there.
   * @throws Error for one whose content has another name
   */
  read(id: string): GitObject | null;
  /** Null for what is no commit and no tag of one. */
  commit(id: string): Commit | null;
  /** Every file below a tree, its path in bytes, with mode and id; submodules as well. */
  files(tree: string): ReadonlyMap<string, string>;
}

/** The objects a work tree or a bare repository has now; what it gets later may not be seen. */
export function objectsOf(dir: string): Objects {
  const gitDir = gitDirOf(dir);
  const places = gitDir === null ? [] : withAlternates(join(commonDirOf(gitDir), 'objects'));
  let packed: Map<string, GitObject> | null = null;
  const inPacks = (): Map<string, GitObject> => {
    packed ??= new Map(places.flatMap((place) => [...packedObjects(join(place, 'pack'))]));
    return packed;
  };
  const looseFile = (id: string): string | undefined =>
    places.map((place) => join(place, id.slice(0, 2), id.slice(2))).find((path) => existsSync(path));
  const seen = new Map<string, GitObject | null>();
  const read = (id: string): GitObject | null => {
    const known = seen.get(id);
    if (known !== undefined) return known;
    const file = looseFile(id);
    const found = file === undefined ? (inPacks().get(id) ?? null) : loose(id, readFileSync(file));
    seen.set(id, found);
    return found;
  };
  const commit = (id: string): Commit | null => {
    const object = read(id);
    if (object?.type === 'tag') return commit(object.body.toString('latin1', 7, 47));
    return object?.type === 'commit' ? parsed(id, object.body.toString('latin1')) : null;
  };
  const flat = new Map<string, Map<string, string>>();
  const files = (tree: string): Map<string, string> => {
    const known = flat.get(tree);
    if (known !== undefined) return known;
    const found = new Map<string, string>();
    for (const { mode, name, id } of entriesOf(needed(read(tree), tree).body)) {
      if (mode !== '40000') found.set(name, `${mode} ${id}`);
      else for (const [path, what] of files(id)) found.set(`${name}/${path}`, what);
    }
    flat.set(tree, found);
    return found;
  };
  return { has: (id) => looseFile(id) !== undefined || inPacks().has(id), read, commit, files };
}

/**
 * Adds everything that can be reached from these to `found`; what is in there already is taken for complete.
 * @throws Error when a commit, tag or tree on the way is missing
 */
export function addReachable(objects: Objects, tips: Iterable<string>, found: Set<string>): void {
  const queue = [...tips];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id)) continue;
    const { type, body } = needed(objects.read(id), id);
    found.add(id);
    if (type === 'tag') queue.push(body.toString('latin1', 7, 47));
    if (type === 'commit') {
      const { tree, parents } = parsed(id, body.toString('latin1'));
      queue.push(tree, ...parents);
    }
    if (type !== 'tree') continue;
    for (const entry of entriesOf(body)) {
      if (entry.mode === '40000') queue.push(entry.id);
      // A file need not be read; a submodule's commit is another repository's.
      else if (entry.mode !== '160000' && objects.has(entry.id)) found.add(entry.id);
    }
  }
}

/** Commits that can be reached from `tips` and not from `known`, by id. Ids that are not there, or no commits, lead nowhere. */
export function commitsFrom(
  objects: Objects,
  tips: Iterable<string>,
  known: Iterable<string> = [],
): Map<string, Commit> {
  const without = new Set<string>();
  const walk = (from: Iterable<string>, into: (commit: Commit) => boolean): void => {
    const queue = [...from];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const commit = objects.commit(id);
      if (commit !== null && into(commit)) queue.push(...commit.parents);
    }
  };
  walk(known, ({ id }) => !without.has(id) && without.add(id).has(id));
  const found = new Map<string, Commit>();
  walk(tips, (commit) => {
    if (without.has(commit.id) || found.has(commit.id)) return false;
    found.set(commit.id, commit);
    return true;
  });
  return found;
}

/** Commits from `tip` that `main` does not have, the oldest first. */
export function rangeUpTo(dir: string, tip: string, main: string): string[] {
  const range = commitsFrom(objectsOf(dir), [tip], [main]);
  const inOrder = new Set<string>();
  const visit = (id: string): void => {
    const commit = range.get(id);
    if (commit === undefined || inOrder.has(id)) return;
    for (const parent of commit.parents) visit(parent);
    inOrder.add(id);
  };
  visit(tip);
  return [...inOrder];
}

/** The commit so many before the one that is checked out; null when there is none. */
export function ancestor(dir: string, back: number): string | null {
  const objects = objectsOf(dir);
  let id = headOf(dir);
  for (let left = back; left > 0 && id !== null; left -= 1) id = objects.commit(id)?.parents[0] ?? null;
  return id;
}

function loose(id: string, file: Buffer): GitObject {
  const whole = inflateSync(file);
  if (createHash('sha1').update(whole).digest('hex') !== id) throw new Error(`the object ${id} is damaged`);
  const end = whole.indexOf(0);
  const [type = ''] = whole.toString('latin1', 0, end).split(' ');
  return { type, body: whole.subarray(end + 1) };
}

function parsed(id: string, text: string): Commit {
  const head = text.slice(0, text.indexOf('\nauthor '));
  const [tree = '', ...parents] = lines(head).map((line) => line.slice(-40));
  return { id, tree, parents };
}

function* entriesOf(tree: Buffer): Generator<{ mode: string; name: string; id: string }> {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    yield {
      mode: tree.toString('latin1', at, space),
      name: tree.toString('latin1', space + 1, end),
      id: tree.toString('hex', end + 1, end + 21),
    };
    at = end + 21;
  }
}

function needed(object: GitObject | null, id: string): GitObject {
  if (object === null) throw new Error(`the object ${id} is missing`);
  return object;
}

function withAlternates(objects: string): string[] {
  return [objects, ...lines(textOf(join(objects, 'info/alternates'))).flatMap(withAlternates)];
}
