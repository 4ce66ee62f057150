import type { Ground } from './ground.ts';
import type { PlainGit } from './plain-git.ts';
import type { Random } from './random.ts';
import { finish } from './steps/finish.ts';
import { STEPS } from './steps/index.ts';
import type { Step } from './steps/step.ts';
import { IGNORED_DIRECTORIES, type SessionTree, type World } from './world.ts';

const IGNORED_SUFFIXES = ['.log', '.env'];
const DEPENDENCY_DIRECTORIES = ['node_modules', '.venv', 'target'];
/** How many histories are brought to an end; if few were, keeping every tree would look fine. */
const FINISHED_SHARE = 0.75;
/** How many of those have one thing happen afterwards: the hard cases are those with a single flaw. */
const FLAWED_SHARE = 0.4;
const FLAWS = [
  'the remote branch is deleted, nothing landed',
  'the remote branch is rewritten',
  'commit everything',
  'stash',
  'stash with untracked files',
  'hide new files, and make one',
  'hide an edit by assume-unchanged',
  'hide an edit by skip-worktree',
  'edit without a trace in size and time',
  'leave a branch with a commit behind',
  'detach and commit',
  'a tag',
  'change the mode of a file',
  'commit in the submodule and record it',
  'a branch in the submodule',
  'a clone in an ignored directory with a stash',
  'a clone in an ignored directory with a branch',
  'a repository in an ignored directory',
  'push to a remote inside of the tree',
  'amend',
];

/** Lets an agent, an operator and a colleague work for a while. */
export function work(
  { root, remote, library }: Ground,
  tree: SessionTree,
  { git, random }: { git: PlainGit; random: Random },
): World {
  const world: World = {
    root,
    random,
    git,
    remote,
    mirror: null,
    library,
    tree,
    session: {
      branches: new Set([tree.scratchBranch ?? 'main']),
      tags: new Set(),
      stashes: new Set(),
    },
    truth: {
      landed: new Set(),
      rewritten: [],
      mergedBlobs: new Set(),
      ignoredDirectories: new Set(IGNORED_DIRECTORIES),
      ignoredSuffixes: new Set(IGNORED_SUFFIXES),
      dependencyDirectories: new Set(DEPENDENCY_DIRECTORIES),
    },
    insideRemotes: new Set(),
    steps: [],
  };
  const total = STEPS.reduce((sum, { weight }) => sum + weight, 0);
  for (let left = 5 + random.below(14); left > 0; left -= 1) {
    let draw = random.next() * total;
    const step = STEPS.find(({ weight }) => {
      draw -= weight;
      return draw < 0;
    });
    take(world, step);
  }
  if (random.chance(FINISHED_SHARE)) {
    finish(world);
    if (random.chance(FLAWED_SHARE)) {
      const flaw = random.pick(FLAWS);
      take(
        world,
        STEPS.find(({ name }) => name === flaw),
      );
    }
  }
  return world;
}

function take(world: World, step: Step | undefined): void {
  if (step !== undefined && step.take(world) !== false) world.steps.push(step.name);
}
