import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { refsOf } from '../refs.ts';
import { agent, argument, canBeArgument, type World } from '../world.ts';
import { step } from './step.ts';

export const pushSteps = [
  step('push', 7, (world) => pushHead(world, 'HEAD')),
  step('push all but the last commit', 3, (world) => pushHead(world, 'HEAD~1')),
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
export function remoteName(world: World, branch: string): string {
  return branch === 'main' || branch === world.tree.scratchBranch ? 'work' : argument(branch);
}

/** Pushes every branch of the session whose name can be said. */
export function pushBranches(world: World, remote: string): boolean {
  const known = refsOf(world.tree.path);
  const refs = [...world.session.branches]
    .filter(canBeArgument)
    .filter((branch) => known.has(`refs/heads/${branch}`))
    .map((branch) => `+refs/heads/${argument(branch)}:refs/heads/${remoteName(world, branch)}`);
  const upstream = world.random.chance(0.5) ? ['--set-upstream'] : [];
  return refs.length > 0 && agent(world, ['push', '--quiet', ...upstream, remote, ...refs]).ok;
}

function pushHead(world: World, what: string): boolean {
  const { ok, out } = agent(world, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  const target = ok ? remoteName(world, out.trim()) : 'from-detached';
  const upstream = world.random.chance(0.5) ? ['--set-upstream'] : [];
  return agent(world, ['push', '--quiet', ...upstream, 'origin', `+${what}:refs/heads/${target}`]).ok;
}
