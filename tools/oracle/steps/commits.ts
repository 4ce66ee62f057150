import { commitsFrom, objectsOf } from '../objects.ts';
import { headOf, refsOf } from '../refs.ts';
import { agent, argument, SHARED_FILE, type World } from '../world.ts';
import { addAll, editShared, newFile, someFile, write } from './files.ts';
import { step } from './step.ts';

export const commitSteps = [
  step('commit everything', 12, (world) => {
    if (world.random.chance(0.5)) newFile(world);
    addAll(world);
    return commit(world);
  }),
  step('commit an edit of the shared file', 4, (world) => {
    if (editShared(world) === false) return false;
    return agent(world, ['commit', '--quiet', '--message', 'shared', '--', SHARED_FILE]).ok;
  }),
  step('commit some of it', 3, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    write(world, path, `staged ${world.random.word()}\n`);
    agent(world, ['add', '--pathspec-from-file=-', '--pathspec-file-nul'], pathspec(path));
    return commit(world);
  }),
  step('stage and edit again', 3, (world) => {
    const path = someFile(world);
    if (path === null) return false;
    write(world, path, `staged ${world.random.word()}\n`);
    agent(world, ['add', '--pathspec-from-file=-', '--pathspec-file-nul'], pathspec(path));
    write(world, path, `after staging ${world.random.word()}\n`);
  }),
  step('stage and write back', 2, (world) => {
    // What is staged is then in the index alone: neither a commit nor the file has it.
    const name = `staged-${world.random.word()}.txt`;
    write(world, name, `only staged ${world.random.word()}\n`);
    agent(world, ['add', name]);
    write(world, name, '');
  }),
  step('an empty commit', 2, (world) => commit(world, ['--allow-empty'])),
  step('amend', 4, (world) => {
    newFile(world);
    addAll(world);
    return agent(world, ['commit', '--quiet', '--amend', '--no-edit']).ok;
  }),
  step(
    'amend the message',
    2,
    (world) => agent(world, ['commit', '--quiet', '--amend', '--only', '--message', world.random.word()]).ok,
  ),
  step('revert', 2, (world) => {
    const { ok } = agent(world, ['revert', '--no-edit', 'HEAD']);
    if (!ok) agent(world, ['revert', '--abort']);
    return ok;
  }),
  step('reset --hard', 2, (world) => agent(world, ['reset', '--quiet', '--hard', 'HEAD~1']).ok),
  step('reset --soft', 1, (world) => agent(world, ['reset', '--quiet', '--soft', 'HEAD~1']).ok),
  step('reset --mixed', 1, (world) => agent(world, ['reset', '--quiet', 'HEAD~1']).ok),
  step('cherry-pick', 2, (world) => {
    const other = world.random.pick([...world.session.branches, 'origin/main']);
    const { ok } = agent(world, ['cherry-pick', argument(other)]);
    if (!ok) agent(world, ['cherry-pick', '--abort']);
    return ok;
  }),
  step('merge what is on the remote', 2, (world) => {
    const { ok } = agent(world, ['merge', '--quiet', '--no-edit', 'origin/main']);
    if (!ok) agent(world, ['merge', '--abort']);
    return ok;
  }),
  step('rebase on what is on the remote', 5, (world) => {
    const before = ownCommits(world);
    const { ok } = agent(world, ['rebase', '--quiet', 'origin/main']);
    if (!ok) {
      agent(world, ['rebase', '--abort']);
      return false;
    }
    const after = ownCommits(world);
    if (before.length === 0 || after.length === 0 || after.every((id) => before.includes(id))) return true;
    world.truth.rewritten.push({ from: before, to: after });
    for (const blob of sharedBlobs(world.tree.path, after)) world.truth.mergedBlobs.add(blob);
    return true;
  }),
];

export function commit(world: World, more: readonly string[] = []): boolean {
  return agent(world, ['commit', '--quiet', '--message', `work ${world.random.word()}`, ...more]).ok;
}

/** What the shared file was in each of these commits. */
export function sharedBlobs(dir: string, commits: readonly string[]): string[] {
  const objects = objectsOf(dir);
  return commits.flatMap((id) => {
    const commit = objects.commit(id);
    const what = commit === null ? undefined : objects.files(commit.tree).get(SHARED_FILE);
    return what === undefined ? [] : [what.slice(-40)];
  });
}

/** Commits of HEAD that are not on the remote's main, as far as the tree knows. */
function ownCommits({ tree }: World): string[] {
  const main = refsOf(tree.path).get('refs/remotes/origin/main');
  const head = headOf(tree.path);
  if (main === undefined || head === null) return [];
  return [...commitsFrom(objectsOf(tree.path), [head], [main]).keys()];
}

function pathspec(path: string): Buffer {
  return Buffer.from(`:(literal)${path}\0`, 'latin1');
}
