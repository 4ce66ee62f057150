import { writeFileSync } from 'node:fs';
import { branchOf, headOf } from '../refs.ts';
import { agent, argument, CONFLICT_FILE, type World } from '../world.ts';
import { inTree, isFile } from './files.ts';
import { step } from './step.ts';

export const interruptedSteps = [
  step('an interrupted merge', 1, (world) => {
    const other = conflict(world);
    return other === null ? false : !agent(world, ['merge', '--quiet', '--no-edit', other]).ok;
  }),
  step('an interrupted rebase', 1, (world) => {
    const other = conflict(world);
    return other === null ? false : !agent(world, ['rebase', '--quiet', other]).ok;
  }),
  step('an interrupted cherry-pick', 1, (world) => {
    const other = conflict(world);
    return other === null ? false : !agent(world, ['cherry-pick', other]).ok;
  }),
  step('an interrupted revert', 1, (world) => {
    if (conflict(world) === null) return false;
    if (!writeConflict(world) || !commitConflict(world)) return false;
    return !agent(world, ['revert', '--no-edit', 'HEAD~1']).ok;
  }),
  step('a rebase that waits', 1, (world) => {
    // Nothing is changed and HEAD is where it was: only git's own notes tell.
    return !agent(world, ['rebase', '--quiet', '--exec', 'false', 'HEAD~1']).ok;
  }),
  step('a bisection', 1, (world) => agent(world, ['bisect', 'start', 'HEAD', 'HEAD~2']).ok),
];

/** Makes two commits that disagree, one of them checked out, and names the other. */
function conflict(world: World): string | null {
  const other = `other-${world.random.word()}`;
  const back = branchOf(world.tree.path);
  // Without a commit on it there is nothing to go back to.
  if (back === null || headOf(world.tree.path) === null) return null;
  if (!agent(world, ['switch', '--quiet', '--create', other]).ok) return null;
  world.session.branches.add(other);
  const made = writeConflict(world) && commitConflict(world);
  if (!agent(world, ['switch', '--quiet', argument(back)]).ok || !made) return null;
  return writeConflict(world) && commitConflict(world) ? other : null;
}

function writeConflict(world: World): boolean {
  const path = inTree(world, CONFLICT_FILE);
  if (!isFile(path)) return false;
  writeFileSync(path, `one line ${world.random.word()}\n`);
  return true;
}

function commitConflict(world: World): boolean {
  return agent(world, ['commit', '--quiet', '--message', 'one line', '--', CONFLICT_FILE]).ok;
}
