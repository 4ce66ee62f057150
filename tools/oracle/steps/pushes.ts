import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ancestor } from '../objects.ts';
import { branchOf, refsOf } from '../refs.ts';
import { agent, argument, canBeArgument, type World } from '../world.ts';
import { step } from './step.ts';

const UPSTREAM_SHARE = 0.4;

export const pushSteps = [
  step('push', 7, (world) => pushHead(world, 0)),
  step('push all but the last commit', 3, (world) => pushHead(world, 1)),
  step('push every branch', 3, (world) => pushBranches(world, 'origin')),
  step('push the tags', 1, (world) => agent(world, ['push', '--quiet', '--tags', 'origin']).ok),
  step('push to another remote', 2, (world) => {
    if (world.mirror === null) {
      world.mirror = join(world.root, 'mirror.git');
      if (!world.git(world.root, ['init', '--quiet', '--bare', world.mirror]).ok) return false;
      agent(world, ['remote', 'add', 'mirror', world.mirror]);
    }
    return pushBranches(world, 'mirror');
  }),
  step('push to a remote inside of the tree', 2, (world) => {
    // In a directory that is ignored, so that status has nothing to say of it.
    const inside = join(world.tree.path, 'scratch', 'inside.git');
    if (!existsSync(inside)) {
      if (!world.git(world.root, ['init', '--quiet', '--bare', inside]).ok) return false;
      agent(world, ['remote', 'add', 'inside', inside]);
      world.insideRemotes.add('inside');
    }
    return pushBranches(world, 'inside');
  }),
  step(
    'push to an address without a name',
    1,
    (world) =>
      agent(world, ['push', '--quiet', world.remote, `HEAD:refs/heads/nameless-${world.random.word()}`]).ok,
  ),
];

/** What a branch of the session is called on the remote. */
export function named(world: World, branch: string): string {
  return branch === 'main' || branch === world.tree.scratchBranch ? 'work' : argument(branch);
}

/** Pushes every branch of the session whose name can be said. */
export function pushBranches(world: World, remote: string): boolean {
  const known = refsOf(world.tree.path);
  const refs = [...world.session.branches]
    .filter(canBeArgument)
    .filter((branch) => known.has(`refs/heads/${branch}`))
    .map((branch) => `+refs/heads/${argument(branch)}:refs/heads/${named(world, branch)}`);
  return refs.length > 0 && push(world, remote, refs);
}

function pushHead(world: World, back: number): boolean {
  const { path } = world.tree;
  if (ancestor(path, back) === null) return false;
  const branch = branchOf(path);
  const target = branch === null ? 'from-detached' : named(world, branch);
  return push(world, 'origin', [`+HEAD~${back}:refs/heads/${target}`]);
}

function push(world: World, remote: string, refs: readonly string[]): boolean {
  const upstream = world.random.chance(UPSTREAM_SHARE) ? ['--set-upstream'] : [];
  return agent(world, ['push', '--quiet', ...upstream, remote, ...refs]).ok;
}
