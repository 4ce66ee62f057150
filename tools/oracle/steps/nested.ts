import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agent, SUBMODULE, type World } from '../world.ts';
import { commit } from './commits.ts';
import { step } from './step.ts';

export const nestedSteps = [
  step('edit in the submodule', 2, (world) => {
    const dir = submodule(world);
    if (dir === null) return false;
    appendFileSync(join(dir, 'library.c'), `int more_${world.random.below(9999)};\n`);
  }),
  step('commit in the submodule', 2, (world) => {
    const dir = submodule(world);
    return dir === null ? false : commitIn(world, dir);
  }),
  step('commit in the submodule and record it', 2, (world) => {
    const dir = submodule(world);
    if (dir === null || !commitIn(world, dir)) return false;
    agent(world, ['add', SUBMODULE]);
    return commit(world);
  }),
  step('push the submodule and record it', 3, (world) => {
    const dir = submodule(world);
    if (dir === null || !commitIn(world, dir)) return false;
    if (!world.git(dir, ['push', '--quiet', 'origin', `HEAD:refs/heads/work-${world.random.word()}`]).ok)
      return false;
    agent(world, ['add', SUBMODULE]);
    return commit(world);
  }),
  step('stash in the submodule', 1, (world) => {
    const dir = submodule(world);
    if (dir === null) return false;
    appendFileSync(join(dir, 'library.c'), `int stashed_${world.random.below(9999)};\n`);
    return world.git(dir, ['stash', 'push', '--quiet']).ok;
  }),
  step('a branch in the submodule', 1, (world) => {
    const dir = submodule(world);
    if (dir === null || !world.git(dir, ['switch', '--quiet', '--create', 'side']).ok) return false;
    commitIn(world, dir);
    return world.git(dir, ['switch', '--quiet', '--detach', 'origin/main']).ok;
  }),
  step('a repository among the files', 2, (world) => ownRepository(world, `app-${world.random.word()}`)),
  step('a repository in an ignored directory', 2, (world) =>
    ownRepository(world, `scratch/app-${world.random.word()}`),
  ),
  step('a repository recorded without a .gitmodules', 2, (world) => {
    const name = `embedded-${world.random.word()}`;
    if (!ownRepository(world, name) || !agent(world, ['add', name]).ok) return false;
    return commit(world);
  }),
  step('a repository among the dependencies', 2, (world) =>
    ownRepository(world, `node_modules/package-${world.random.word()}`),
  ),
  step('a clone in an ignored directory', 3, (world) => cloneInside(world) !== null),
  step('a clone in an ignored directory with a stash', 2, (world) => {
    const dir = cloneInside(world);
    if (dir === null) return false;
    writeFileSync(join(dir, 'shared.txt'), `stashed ${world.random.word()}\n`);
    return world.git(dir, ['stash', 'push', '--quiet']).ok;
  }),
  step('a clone in an ignored directory with a branch', 2, (world) => {
    const dir = cloneInside(world);
    if (dir === null || !world.git(dir, ['switch', '--quiet', '--create', 'ahead']).ok) return false;
    commitIn(world, dir);
    return world.git(dir, ['switch', '--quiet', 'main']).ok;
  }),
  step('a worktree inside of the tree', 1, (world) => {
    const dir = join(world.tree.path, 'scratch', `wt-${world.random.word()}`);
    if (!agent(world, ['worktree', 'add', '--quiet', '--detach', dir]).ok) return false;
    return commitIn(world, dir);
  }),
];

/** Where the submodule is, when there is one and it is filled. */
export function submodule(world: World): string | null {
  const dir = join(world.tree.path, SUBMODULE);
  return world.library !== null && existsSync(join(dir, '.git')) ? dir : null;
}

function ownRepository(world: World, name: string): boolean {
  const dir = join(world.tree.path, name);
  mkdirSync(dir, { recursive: true });
  return world.git(dir, ['init', '--quiet']).ok && commitIn(world, dir);
}

function cloneInside(world: World): string | null {
  const dir = join(world.tree.path, 'scratch', `clone-${world.random.word()}`);
  return world.git(world.root, ['clone', '--quiet', world.remote, dir]).ok ? dir : null;
}

function commitIn(world: World, dir: string): boolean {
  writeFileSync(join(dir, `nested-${world.random.word()}.txt`), `nested ${world.random.word()}\n`);
  return (
    world.git(dir, ['add', '--all']).ok &&
    world.git(dir, ['commit', '--quiet', '--message', `nested ${world.random.word()}`]).ok
  );
}
