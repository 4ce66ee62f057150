import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lines } from '../plain-git.ts';
import { branchOf, gitDirOf, refsOf, stashesOf } from '../refs.ts';
import { agent, canBeArgument, SUBMODULE, type World } from '../world.ts';
import { land } from './colleague.ts';
import { commit } from './commits.ts';
import { addAll, newFile } from './files.ts';
import { submodule } from './nested.ts';
import { named, pushBranches } from './pushes.ts';

/** Brings all of it elsewhere and the tree in order, as an agent does that was told to push its work. */
export function finish(world: World): void {
  world.steps.push('finish');
  endOperations(world);
  unhide(world);
  removeRepositories(world);
  if (branchOf(world.tree.path) === null) {
    const name = `finish/${world.random.word()}`;
    if (agent(world, ['switch', '--quiet', '--create', name]).ok) world.session.branches.add(name);
  }
  newFile(world);
  addAll(world);
  commit(world);
  dropStashes(world);
  tidyRefs(world);
  const tags = [...world.session.tags];
  if (tags.length > 0) agent(world, ['push', '--quiet', 'origin', ...tags.map((tag) => `refs/tags/${tag}`)]);
  if (!pushBranches(world, 'origin')) return;
  if (world.random.chance(0.5)) landOne(world);
}

function landOne(world: World): void {
  const { random } = world;
  const at = branchOf(world.tree.path) ?? '';
  const how = random.pick(['squash', 'squash', 'rebase', 'merge'] as const);
  const deleted = random.chance(0.8);
  // The last step: a branch the tree does not know to be gone misleads nobody any more.
  const fetched = random.chance(0.8);
  if (land(world, how, { deleted, fetched }, named(world, at))) {
    world.steps.push(`finally a ${how}${deleted ? ', branch deleted' : ''}${fetched ? '' : ', not fetched'}`);
  }
}

function endOperations(world: World): void {
  const gitDir = gitDirOf(world.tree.path);
  if (gitDir === null) return;
  for (const [file, command] of [
    ['MERGE_HEAD', ['merge', '--abort']],
    ['rebase-merge', ['rebase', '--abort']],
    ['CHERRY_PICK_HEAD', ['cherry-pick', '--abort']],
    ['REVERT_HEAD', ['revert', '--abort']],
    ['sequencer', ['cherry-pick', '--quit']],
    ['BISECT_LOG', ['bisect', 'reset']],
  ] as const) {
    if (existsSync(join(gitDir, file))) agent(world, command);
  }
}

function unhide(world: World): void {
  if (world.steps.some((name) => name.startsWith('a sparse'))) agent(world, ['sparse-checkout', 'disable']);
  if (!world.steps.some((name) => /sparse|hide an edit/.test(name))) return;
  const flagged = agent(world, ['ls-files', '-t', '-v', '-z'])
    .out.split('\0')
    .filter((line) => /^[a-zS] /.test(line))
    .map((line) => `${line.slice(2)}\0`);
  if (flagged.length === 0) return;
  const paths = Buffer.from(flagged.join(''), 'latin1');
  agent(world, ['update-index', '--no-assume-unchanged', '-z', '--stdin'], paths);
  agent(world, ['update-index', '--no-skip-worktree', '-z', '--stdin'], paths);
}

/** Those on a remote may stay in their ignored directory. */
function removeRepositories(world: World): void {
  const { tree } = world;
  const names = readdirSync(tree.path).filter((name) => /^(app|embedded)-/.test(name));
  for (const name of names) rmSync(join(tree.path, name), { recursive: true });
  const scratch = join(tree.path, 'scratch');
  const doubtful = world.steps.some((name) => /with a (stash|branch)|a worktree inside/.test(name));
  for (const name of existsSync(scratch) ? readdirSync(scratch) : []) {
    if (doubtful || !name.startsWith('clone-')) rmSync(join(scratch, name), { recursive: true });
  }
  if (names.length > 0 || doubtful) agent(world, ['worktree', 'prune']);
  const dir = submodule(world);
  if (dir === null) return;
  world.git(dir, ['reset', '--quiet', '--hard']);
  for (const _ of lines(world.git(dir, ['stash', 'list']).out)) world.git(dir, ['stash', 'drop', '--quiet']);
  world.git(dir, ['push', '--quiet', 'origin', `HEAD:refs/heads/finish-${world.random.word()}`]);
  world.git(dir, ['push', '--quiet', 'origin', 'refs/heads/side:refs/heads/side']);
  world.git(dir, ['fetch', '--quiet', 'origin']);
  agent(world, ['add', SUBMODULE]);
}

function dropStashes(world: World): void {
  const { session } = world;
  const own = stashesOf(world.tree.commonDir);
  // Numbers count from the newest, so the oldest goes first and moves no other.
  own.forEach((entry, index) => {
    if (!session.stashes.has(entry)) return;
    const dropped = agent(world, ['stash', 'drop', '--quiet', `stash@{${own.length - 1 - index}}`]);
    if (dropped.ok) session.stashes.delete(entry);
  });
}

/** Refs no remote takes as they are. */
function tidyRefs(world: World): void {
  const unsayable = [...world.session.branches].filter((name) => !canBeArgument(name));
  const own = [...refsOf(world.tree.path).keys()].filter((name) => /^refs\/(worktree|bisect)\//.test(name));
  const gone = [...unsayable.map((name) => `refs/heads/${name}`), ...own];
  if (gone.length === 0) return;
  agent(
    world,
    ['update-ref', '--stdin'],
    Buffer.from(gone.map((ref) => `delete ${ref}\n`).join(''), 'latin1'),
  );
  for (const name of unsayable) world.session.branches.delete(name);
}
