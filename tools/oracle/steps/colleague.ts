import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rangeUpTo } from '../objects.ts';
import { mustSucceed } from '../plain-git.ts';
import { headOf, refsOf } from '../refs.ts';
import { agent, SHARED_FILE, type World } from '../world.ts';
import { sharedBlobs } from './commits.ts';
import { step } from './step.ts';

export type Landing = 'squash' | 'rebase' | 'merge';

export const colleagueSteps = [
  step('main moves on', 4, (world) => {
    const dir = colleague(world);
    writeFileSync(join(dir, `theirs-${world.random.word()}.txt`), `theirs ${world.random.word()}\n`);
    if (world.random.chance(0.5)) appendFileSync(join(dir, SHARED_FILE), `bottom ${world.random.word()}\n`);
    mustSucceed(world.git, dir, ['add', '--all']);
    mustSucceed(world.git, dir, ['commit', '--quiet', '--message', 'theirs']);
    publish(world, dir);
  }),
  step('fetch', 3, (world) => agent(world, ['fetch', '--quiet', 'origin']).ok),
  step('a squash merge', 2, (world) => land(world, 'squash', { deleted: false, fetched: false })),
  step('a squash merge, fetched', 2, (world) => land(world, 'squash', { deleted: false, fetched: true })),
  step('a squash merge, branch deleted', 3, (world) =>
    land(world, 'squash', { deleted: true, fetched: true }),
  ),
  step('a rebase merge, branch deleted', 2, (world) =>
    land(world, 'rebase', { deleted: true, fetched: true }),
  ),
  step('a merge, branch deleted', 1, (world) => land(world, 'merge', { deleted: true, fetched: true })),
  step('the remote branch is deleted, nothing landed', 3, (world) => {
    const branch = pushedBranch(world);
    if (branch === null) return false;
    deleteBranch(world, branch);
    return agent(world, ['fetch', '--quiet', '--prune', 'origin']).ok;
  }),
  step('the remote branch is rewritten', 1, (world) => {
    const branch = pushedBranch(world);
    if (branch === null) return false;
    mustSucceed(world.git, world.remote, ['update-ref', `refs/heads/${branch}`, 'refs/heads/main']);
    return agent(world, ['fetch', '--quiet', '--prune', 'origin']).ok;
  }),
  step('main is reverted', 1, (world) => {
    const dir = colleague(world);
    const { ok } = world.git(dir, ['revert', '--no-edit', '-m', '1', 'HEAD']);
    if (!ok && !world.git(dir, ['revert', '--no-edit', 'HEAD']).ok) {
      world.git(dir, ['revert', '--abort']);
      return false;
    }
    publish(world, dir);
  }),
];

/**
 * Brings a pushed branch onto main. A branch that is deleted on the remote is also forgotten by the tree, unless
 * nothing comes after: what a tree has not been told of it cannot know.
 */
export function land(
  world: World,
  how: Landing,
  after: { deleted: boolean; fetched: boolean },
  wanted?: string,
): boolean {
  const dir = colleague(world);
  const branch = wanted ?? pushedBranch(world);
  if (branch === null) return false;
  const { truth } = world;
  const tip = refsOf(dir).get(`refs/remotes/origin/${branch}`);
  if (tip === undefined) return false;
  const range = rangeUpTo(dir, tip, headOf(dir) ?? '');
  if (range.length === 0) return false;
  if (!brought(world, dir, how, tip, range)) return false;
  publish(world, dir);
  if (after.deleted) deleteBranch(world, branch);
  for (const commit of range) truth.landed.add(commit);
  for (const blob of sharedBlobs(dir, range)) truth.mergedBlobs.add(blob);
  if (after.fetched) return agent(world, ['fetch', '--quiet', '--prune', 'origin']).ok;
  return true;
}

function brought(world: World, dir: string, how: Landing, tip: string, range: string[]): boolean {
  const { git } = world;
  const title = ['--message', `landed ${world.random.word()}`];
  if (how === 'squash' && git(dir, ['merge', '--quiet', '--squash', tip]).ok) {
    if (git(dir, ['commit', '--quiet', ...title]).ok) return true;
  }
  if (how === 'merge' && git(dir, ['merge', '--quiet', '--no-ff', ...title, tip]).ok) return true;
  if (how === 'rebase' && git(dir, ['cherry-pick', '--allow-empty', ...range]).ok) return true;
  git(dir, ['cherry-pick', '--quit']);
  git(dir, ['reset', '--quiet', '--hard', 'origin/main']);
  return false;
}

/** A clone of somebody else, at what the remote has now. */
function colleague({ root, remote, git }: World): string {
  const dir = join(root, 'colleague');
  if (behind(dir, remote)) mustSucceed(git, dir, ['fetch', '--quiet', '--prune', 'origin']);
  if (headOf(dir) !== refsOf(dir).get('refs/remotes/origin/main')) {
    mustSucceed(git, dir, ['reset', '--quiet', '--hard', 'origin/main']);
  }
  return dir;
}

/** Makes main on the remote what it is here: the clone has the objects of the remote. */
function publish({ git, remote }: World, dir: string): void {
  mustSucceed(git, remote, ['update-ref', 'refs/heads/main', headOf(dir) ?? '']);
}

function deleteBranch({ git, remote }: World, branch: string): void {
  mustSucceed(git, remote, ['update-ref', '-d', `refs/heads/${branch}`]);
}

/** Whether a fetch would bring or remove anything. */
function behind(dir: string, remote: string): boolean {
  const seen = [...refsOf(dir)].filter(([name]) => /^refs\/remotes\/origin\/(?!HEAD$)/.test(name));
  const there = new Map([...refsOf(remote)].filter(([name]) => name.startsWith('refs/heads/')));
  return (
    seen.length !== there.size ||
    seen.some(([name, id]) => there.get(name.replace('refs/remotes/origin/', 'refs/heads/')) !== id)
  );
}

function pushedBranch(world: World): string | null {
  const pushed = [...refsOf(world.remote).keys()]
    .map((name) => name.replace('refs/heads/', ''))
    .filter((name) => !/^(main$|operator\/|refs\/)/.test(name));
  return pushed.length === 0 ? null : world.random.pick(pushed.sort());
}
