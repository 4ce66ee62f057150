import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Holding } from './holding.ts';
import { lines, type PlainGit } from './plain-git.ts';
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
  /** Raw lines of the difference to its first parent, whole contents by id. */
  raw: string;
}

/**
 * Which of the commits that are nowhere else have landed in another form: because whoever made the history says so, or
 * because a commit elsewhere takes the same files from the same contents to the same contents.
 */
export function proveLanded(world: World, holding: Holding, elsewhere: ReadonlySet<string>): Landed {
  const { git } = world;
  const own = changes(git, holding.dir, [
    ...holding.tips.map(({ id }) => id),
    ...holding.known.map((id) => `^${id}`),
  ]);
  const remote = remotes(world).flatMap((dir) => [...changes(git, dir, ['--all']).values()]);
  const proven: Landed = { commits: new Set(), blobs: new Set() };
  for (const tip of holding.tips.map(({ id }) => peeled(git, holding.dir, id))) {
    const range = rangeOf(tip, own, elsewhere);
    if (range.length === 0) continue;
    const ancestors = new Set(ancestorsOf(git, holding.dir, tip));
    const others = remote.filter(({ id }) => !ancestors.has(id));
    if (
      !wholeLanded(world, holding, range, others, elsewhere) &&
      !eachLanded(world, range, others, elsewhere)
    )
      continue;
    for (const { id } of range) proven.commits.add(id);
    for (const id of contents(git, holding.dir, tip)) proven.blobs.add(id);
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
  world: World,
  holding: Holding,
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
    const { out } = world.git(holding.dir, [
      'diff-tree',
      '-r',
      '--raw',
      '--no-abbrev',
      '--no-renames',
      start,
      tip.id,
    ]);
    return known.has(lines(out).join('\n'));
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

function changes(git: PlainGit, dir: string, which: string[]): Map<string, Change> {
  const args = ['log', '--raw', '--no-abbrev', '--no-renames', '--diff-merges=first-parent', '--root'];
  const all = which.includes('--all');
  const { out } = git(dir, [...args, '--format=%x01%H %T %P', ...(all ? ['--all'] : ['--stdin'])], {
    input: all ? '' : `${which.join('\n')}\n`,
  });
  const found = new Map<string, Change>();
  for (const block of out.split('\x01').slice(1)) {
    const [head = '', ...rest] = lines(block);
    const [id = '', tree = '', ...parents] = head.split(' ').filter((word) => word !== '');
    found.set(id, { id, tree, parents, raw: rest.join('\n') });
  }
  return found;
}

function remotes(world: World): string[] {
  return readdirSync(world.root)
    .filter((name) => name.endsWith('.git'))
    .map((name) => join(world.root, name));
}

function peeled(git: PlainGit, dir: string, id: string): string {
  return git(dir, ['rev-parse', '--verify', '--quiet', `${id}^{commit}`]).out.trim();
}

function ancestorsOf(git: PlainGit, dir: string, tip: string): string[] {
  return lines(git(dir, ['rev-list', tip]).out);
}

function contents(git: PlainGit, dir: string, tip: string): string[] {
  return lines(git(dir, ['ls-tree', '-r', '--object-only', tip]).out);
}
