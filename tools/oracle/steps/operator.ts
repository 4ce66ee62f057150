import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from '../world.ts';
import { step } from './step.ts';

/** Meanwhile, in the repository the tree was made of. */
export const operatorSteps = [
  step('the operator commits', 3, (world) => {
    writeOwn(world);
    return (
      host(world, ['add', '--all']) && host(world, ['commit', '--quiet', '--message', 'by the operator'])
    );
  }),
  step('the operator starts a branch', 2, (world) => {
    if (!host(world, ['switch', '--quiet', '--create', `operator/${world.random.word()}`])) return false;
    writeOwn(world);
    return (
      host(world, ['add', '--all']) && host(world, ['commit', '--quiet', '--message', 'by the operator'])
    );
  }),
  step('the operator stashes', 2, (world) => {
    writeOwn(world);
    return host(world, ['stash', 'push', '--quiet', '--include-untracked', '--message', 'of the operator']);
  }),
  step('the operator fetches', 2, (world) => host(world, ['fetch', '--quiet', '--prune', 'origin'])),
  step('the operator pushes', 1, (world) =>
    host(world, ['push', '--quiet', 'origin', 'HEAD:refs/heads/operator/pushed']),
  ),
  step('the operator makes a worktree', 2, (world) => {
    const name = world.random.word();
    const path = join(world.root, `operator-${name}`);
    if (!host(world, ['worktree', 'add', '--quiet', '-b', `operator/${name}`, path])) return false;
    writeFileSync(join(path, 'own.txt'), `own ${world.random.word()}\n`);
    world.git(path, ['add', '--all']);
    return world.git(path, ['commit', '--quiet', '--message', 'in another worktree']).ok;
  }),
  step('the operator goes back', 1, (world) => host(world, ['reset', '--quiet', '--hard', 'HEAD~1'])),
];

function host(world: World, args: readonly string[]): boolean {
  return world.git(world.tree.host, args).ok;
}

function writeOwn(world: World): void {
  const { random } = world;
  writeFileSync(join(world.tree.host, `operator-${random.word()}.txt`), `by the operator ${random.word()}\n`);
}
