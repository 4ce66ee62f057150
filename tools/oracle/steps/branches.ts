import { branchOf } from '../refs.ts';
import { agent, argument, canBeArgument, type World } from '../world.ts';
import { commit } from './commits.ts';
import { addAll, newFile } from './files.ts';
import { step } from './step.ts';

export const branchSteps = [
  step('a new branch', 5, (world) => {
    const name = `feature/${world.random.word()}`;
    if (!agent(world, ['switch', '--quiet', '--create', name]).ok) return false;
    world.session.branches.add(name);
  }),
  step('a branch of something earlier', 2, (world) => {
    const name = `fix/${world.random.word()}`;
    if (!agent(world, ['switch', '--quiet', '--create', name, 'HEAD~1']).ok) return false;
    world.session.branches.add(name);
  }),
  step('another branch', 4, (world) => {
    const name = someBranch(world);
    return name !== null && agent(world, ['switch', '--quiet', argument(name)]).ok;
  }),
  step('detach', 3, (world) => agent(world, ['switch', '--quiet', '--detach']).ok),
  step('detach and commit', 4, (world) => {
    if (!agent(world, ['switch', '--quiet', '--detach']).ok) return false;
    newFile(world);
    addAll(world);
    return commit(world);
  }),
  step('leave a branch with a commit behind', 2, (world) => {
    const name = `behind/${world.random.word()}`;
    if (!agent(world, ['switch', '--quiet', '--create', name]).ok) return false;
    world.session.branches.add(name);
    newFile(world);
    addAll(world);
    return commit(world) && agent(world, ['switch', '--quiet', '-']).ok;
  }),
  step('an orphan branch', 1, (world) => {
    const name = `orphan-${world.random.word()}`;
    if (!agent(world, ['switch', '--quiet', '--orphan', name]).ok) return false;
    newFile(world);
    addAll(world);
    if (commit(world)) world.session.branches.add(name);
  }),
  step('rename the branch', 2, (world) => {
    const old = branchOf(world.tree.path);
    if (old === null || old === world.tree.scratchBranch || old === 'main') return false;
    const name = `renamed/${world.random.word()}`;
    if (!agent(world, ['branch', '--move', name]).ok) return false;
    world.session.branches.delete(old);
    world.session.branches.add(name);
  }),
  step('delete a branch', 2, (world) => {
    const name = someBranch(world);
    if (name === null || name === world.tree.scratchBranch || !canBeArgument(name)) return false;
    if (!agent(world, ['branch', '--quiet', '-D', argument(name)]).ok) return false;
    world.session.branches.delete(name);
  }),
  step('a branch whose name is not UTF-8', 1, (world) => {
    const name = `odd/\xff${world.random.word()}`;
    const made = agent(
      world,
      ['update-ref', '--stdin'],
      Buffer.from(`create refs/heads/${name} HEAD\n`, 'latin1'),
    );
    if (!made.ok) return false;
    world.session.branches.add(name);
  }),
  step('merge another branch', 3, (world) => {
    const name = someBranch(world);
    if (name === null) return false;
    const { ok } = agent(world, ['merge', '--quiet', '--no-ff', '--no-edit', argument(name)]);
    if (!ok) agent(world, ['merge', '--abort']);
    return ok;
  }),
  step('a tag', 2, (world) => tag(world, [])),
  step('an annotated tag', 2, (world) => tag(world, ['--annotate', '--message', 'a tag'])),
  step('delete a tag', 1, (world) => {
    const [name] = world.session.tags;
    if (name === undefined) return false;
    world.session.tags.delete(name);
    return agent(world, ['tag', '--delete', name]).ok;
  }),
  step('pack the refs', 2, (world) => agent(world, ['pack-refs', '--all']).ok),
  step('collect garbage', 1, (world) => agent(world, ['gc', '--quiet', '--prune=now']).ok),
  step('a ref of another kind', 1, (world) => {
    // In a linked worktree only this one is the worktree's own.
    return agent(world, ['update-ref', `refs/worktree/${world.random.word()}`, 'HEAD']).ok;
  }),
];

function tag(world: World, kind: readonly string[]): boolean {
  const name = `tag-${world.random.word()}`;
  if (!agent(world, ['tag', ...kind, name]).ok) return false;
  world.session.tags.add(name);
  return true;
}

function someBranch({ random, session }: World): string | null {
  return session.branches.size === 0 ? null : random.pick([...session.branches]);
}
