import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Holding } from './holding.ts';
import { commitsFrom, type Objects, objectsOf } from './objects.ts';
import { refsOf } from './refs.ts';
import type { World } from './world.ts';

export interface Landed {
  /** Commits whose change is on a remote in another form. */
  commits: Set<string>;
  /** Contents at the tips of those, which must be on the remote as they are. */
  blobs: Set<string>;
}

/** A commit as a change: which files it takes from which content to which. */
interface Change {
  id: string;
  tree: string;
  parents: string[];
  /** The difference to its first parent, whole contents by id. */
  raw: string;
}

/**
 * Which of the commits that are nowhere else have landed in another form: because whoever made the history says so, or
 * because a commit elsewhere takes the same files from the same contents to the same contents.
 */
export function proveLanded(world: World, holding: Holding, elsewhere: ReadonlySet<string>): Landed {
  const { objects } = holding;
  const own = changes(
    objects,
    holding.tips.map(({ id }) => id),
    holding.known,
  );
  const remote = remotes(world).flatMap((dir) => [...changes(objectsOf(dir), refsOf(dir).values()).values()]);
  const proven: Landed = { commits: new Set(), blobs: new Set() };
  for (const tip of holding.tips.flatMap(({ id }) => objects.commit(id) ?? [])) {
    const range = rangeOf(tip.id, own, elsewhere);
    if (range.length === 0) continue;
    const ancestors = commitsFrom(objects, [tip.id]);
    const others = remote.filter(({ id }) => !ancestors.has(id));
    if (!wholeLanded(objects, range, others, elsewhere) && !eachLanded(world, range, others, elsewhere))
      continue;
    for (const { id } of range) proven.commits.add(id);
    for (const what of objects.files(tip.tree).values()) proven.blobs.add(what.slice(-40));
  }
  return proven;
}

/** The commits below a tip that are nowhere else, the tip first. */
function rangeOf(tip: string, own: Map<string, Change>, elsewhere: ReadonlySet<string>): Change[] {
  const range = new Map<string, Change>();
  const queue = [tip];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    const change = own.get(id);
    if (change === undefined || elsewhere.has(id) || range.has(id)) continue;
    range.set(id, change);
    queue.push(...change.parents);
  }
  return [...range.values()];
}

function wholeLanded(
  objects: Objects,
  range: Change[],
  others: Change[],
  elsewhere: ReadonlySet<string>,
): boolean {
  const [tip] = range;
  if (tip === undefined) return false;
  if (others.some(({ tree }) => tree === tip.tree)) return true;
  const inRange = new Set(range.map(({ id }) => id));
  const starts = new Set(
    range.flatMap(({ parents }) => parents.filter((id) => !inRange.has(id) && elsewhere.has(id))),
  );
  const known = new Set(others.map(({ raw }) => raw).filter((raw) => raw !== ''));
  return [...starts].some((start) => {
    const before = objects.commit(start)?.tree;
    return before !== undefined && known.has(difference(objects, before, tip.tree));
  });
}

function eachLanded(
  world: World,
  range: Change[],
  others: Change[],
  elsewhere: ReadonlySet<string>,
): boolean {
  const { landed, rewritten } = world.truth;
  const known = new Set(others.map(({ raw }) => raw).filter((raw) => raw !== ''));
  const byParent = new Map(range.map((change) => [change.id, change]));
  const there = (id: string): boolean => {
    if (elsewhere.has(id) || landed.has(id)) return true;
    if (rewritten.some(({ from, to }) => to.includes(id) && from.every((old) => old !== id && there(old))))
      return true;
    const change = byParent.get(id);
    if (change === undefined || change.parents.length !== 1) return false;
    if (known.has(change.raw)) return true;
    // An empty commit on top of what landed says nothing that is not there.
    const [parent] = change.parents;
    return change.raw === '' && parent !== undefined && !elsewhere.has(parent) && there(parent);
  };
  return range.every(({ id }) => there(id));
}

function changes(
  objects: Objects,
  tips: Iterable<string>,
  known: Iterable<string> = [],
): Map<string, Change> {
  return new Map(
    [...commitsFrom(objects, tips, known)].map(([id, { tree, parents }]) => {
      const [first] = parents;
      const before = first === undefined ? null : (objects.commit(first)?.tree ?? null);
      return [id, { id, tree, parents, raw: difference(objects, before, tree) }];
    }),
  );
}

/** What becomes of which files from one tree to another, one line each; null is the tree without files. */
function difference(objects: Objects, before: string | null, after: string): string {
  const old = before === null ? new Map<string, string>() : objects.files(before);
  const changed = objects.files(after);
  return [...new Set([...old.keys(), ...changed.keys()])]
    .filter((path) => old.get(path) !== changed.get(path))
    .sort()
    .map((path) => `${old.get(path)} to ${changed.get(path)} ${JSON.stringify(path)}`)
    .join('\n');
}

function remotes(world: World): string[] {
  return readdirSync(world.root)
    .filter((name) => name.endsWith('.git'))
    .map((name) => join(world.root, name));
}
