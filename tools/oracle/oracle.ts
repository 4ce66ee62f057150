import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shown } from './files.ts';
import { type Holding, holdings } from './holding.ts';
import { type Landed, proveLanded } from './landed.ts';
import { addReachable, objectsOf } from './objects.ts';
import { headOf, refsOf, stashesOf } from './refs.ts';
import type { World } from './world.ts';

/** What a repository in the tree holds, and what of it has landed in another form. */
export interface Held extends Holding {
  landed: Landed;
}

/** Looks before the exit: afterwards there may be nothing to look at. */
export function lookBefore(world: World): { held: Held[]; atRisk: string[] } {
  const elsewhere = objectsElsewhere(world);
  const held = holdings(world).map((holding) => ({
    ...holding,
    landed: [...holding.commits].every((id) => elsewhere.has(id))
      ? { commits: new Set<string>(), blobs: new Set<string>() }
      : proveLanded(world, holding, elsewhere),
  }));
  return { held, atRisk: lossesFrom(world, held, elsewhere) };
}

/** What of all that is nowhere else now: one line each, none when everything is. */
export function lossesOf(world: World, held: readonly Held[]): string[] {
  return lossesFrom(world, held, objectsElsewhere(world));
}

function lossesFrom({ truth }: World, held: readonly Held[], elsewhere: ReadonlySet<string>): string[] {
  return held.flatMap(({ place, commits, landed, unfinished }) => {
    const where = place === '' ? '' : `${shown(place)}: `;
    return [
      ...unfinished,
      ...[...commits]
        .filter((id) => !elsewhere.has(id) && !landed.commits.has(id))
        .map((id) => `commit ${id}`),
      ...[...landed.blobs]
        .filter((id) => !elsewhere.has(id) && !truth.mergedBlobs.has(id))
        .map((id) => `content ${id} of what landed`),
    ].map((line) => `${where}${line}`);
  });
}

/**
 * Every object reachable outside of the tree: on remotes that are not in it, and in the operator's repository by refs
 * that are not the session's.
 */
function objectsElsewhere(world: World): Set<string> {
  const { root, tree } = world;
  const found = new Set<string>();
  for (const name of readdirSync(root).filter((entry) => entry.endsWith('.git'))) {
    const remote = join(root, name);
    addReachable(objectsOf(remote), refsOf(remote).values(), found);
  }
  addReachable(objectsOf(tree.host), operatorTips(world), found);
  return found;
}

function operatorTips({ root, tree, session, insideRemotes }: World): string[] {
  const refs = [...refsOf(tree.host)].filter(([name]) => {
    if (tree.kind === 'clone') return true;
    if (name.startsWith('refs/remotes/')) return !insideRemotes.has(name.split('/')[2] ?? '');
    if (name.startsWith('refs/heads/')) return !session.branches.has(name.slice('refs/heads/'.length));
    if (name.startsWith('refs/tags/')) return !session.tags.has(name.slice('refs/tags/'.length));
    return name !== 'refs/stash' && !/^refs\/(worktree|bisect|rewritten)\//.test(name);
  });
  const stashes = stashesOf(join(tree.host, '.git')).filter(
    (id) => tree.kind === 'clone' || !session.stashes.has(id),
  );
  const checkedOut = [
    tree.host,
    ...readdirSync(root)
      .filter((name) => name.startsWith('operator-'))
      .map((name) => join(root, name)),
  ]
    .filter((dir) => existsSync(dir))
    .map((dir) => headOf(dir) ?? '')
    .filter((id) => id !== '');
  return [
    ...refs.map(([, id]) => id),
    ...stashes,
    ...checkedOut,
    ...Object.values(tree.refsAtLaunch),
    tree.base,
  ];
}
