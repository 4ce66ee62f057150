import { join } from 'node:path';
import { stashesOf } from '../refs.ts';
import { agent, argument, canBeArgument, type World } from '../world.ts';
import { newFile, someFile, write } from './files.ts';
import { step } from './step.ts';

export const hiddenSteps = [
  step('stash', 4, (world) => stash(world, [])),
  step('stash with untracked files', 3, (world) => {
    newFile(world);
    return stash(world, ['--include-untracked', '--message', `kept ${world.random.word()}`]);
  }),
  step('take a stash back', 1, (world) => {
    const top = stashesOf(world.tree.commonDir).at(-1);
    // Another's stash stays where it is.
    if (top === undefined || !world.session.stashes.has(top)) return false;
    if (!agent(world, ['stash', 'pop', '--quiet']).ok) return false;
    world.session.stashes.delete(top);
  }),
  step('hide an edit by assume-unchanged', 2, (world) => hide(world, '--assume-unchanged')),
  step('hide an edit by skip-worktree', 2, (world) => hide(world, '--skip-worktree')),
  step('a sparse checkout', 2, (world) => agent(world, ['sparse-checkout', 'set', 'src']).ok),
  step('a sparse checkout with a file put back', 1, (world) => {
    if (!agent(world, ['sparse-checkout', 'set', 'guide']).ok) return false;
    write(world, 'src/main.c', `put back ${world.random.word()}\n`);
  }),
  step('settings that hide', 3, (world) => {
    const settings: [string, string][] = [
      ['status.showUntrackedFiles', 'no'],
      ['diff.ignoreSubmodules', 'all'],
      ['core.excludesFile', join(world.tree.path, 'guide/start.md')],
      ['core.trustctime', 'false'],
      ['core.checkStat', 'minimal'],
      ['status.relativePaths', 'true'],
      ['core.untrackedCache', 'true'],
      ['index.version', '4'],
      ['submodule.lib.ignore', 'all'],
      ['blame.ignoreRevsFile', 'x'],
    ];
    const [key, value] = world.random.pick(settings);
    if (key === 'core.excludesFile') write(world, 'guide/start.md', '*.txt\n*.c\n');
    return agent(world, ['config', key, value]).ok;
  }),
  step('hide new files, and make one', 1, (world) => {
    newFile(world);
    return agent(world, ['config', 'status.showUntrackedFiles', 'no']).ok;
  }),
  step('an index in two parts', 1, (world) => agent(world, ['update-index', '--split-index']).ok),
];

function stash(world: World, more: readonly string[]): boolean {
  const path = someFile(world);
  if (path !== null) write(world, path, `to be stashed ${world.random.word()}\n`);
  const before = stashesOf(world.tree.commonDir).length;
  agent(world, ['stash', 'push', '--quiet', ...more]);
  const after = stashesOf(world.tree.commonDir);
  const top = after.at(-1);
  if (after.length === before || top === undefined) return false;
  world.session.stashes.add(top);
  return true;
}

function hide(world: World, flag: string): boolean {
  const path = someFile(world);
  if (path === null || !canBeArgument(path)) return false;
  if (!agent(world, ['update-index', flag, '--', argument(path)]).ok) return false;
  write(world, path, `hidden ${world.random.word()}\n`);
  return true;
}
