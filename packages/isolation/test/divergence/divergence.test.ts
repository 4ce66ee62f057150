import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type MaterialiseInput,
  materialise,
  observeSource,
  recreateTree,
  repairRegistration,
} from '../../src/index.ts';
import { commit, git, listing, makeWorld, planned, type World, write } from '../materialise/support.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.clean());

const BRANCH = 'jackin/scratch/jk-aaaa1111-app-role';

async function make(isolation: MaterialiseInput['mount']['isolation'] = 'worktree') {
  const { record } = await materialise(await planned(world, { src: world.repo, isolation }));
  return { record, tree: record.worktree_path };
}

/** The files of a tree, without what links it to its repository. */
function filesOf(tree: string) {
  return listing(tree, (name) => name === '.git');
}

describe('the host', () => {
  test.each(['worktree', 'clone'] as const)('that did nothing is unchanged for a %s', async (kind) => {
    const { record, tree } = await make(kind);
    commit(tree, 'work');
    expect(await observeSource(record)).toEqual({ state: 'unchanged' });
  });

  test.each(['worktree', 'clone'] as const)('that went on is ahead of a %s', async (kind) => {
    const { record } = await make(kind);
    commit(world.repo, 'one');
    commit(world.repo, 'two');
    expect(await observeSource(record)).toEqual({ state: 'ahead', commits: 2 });
    git(world.repo, 'checkout', '-q', '--orphan', 'new');
    expect(await observeSource(record)).toEqual({ state: 'ahead', commits: 2 });
  });

  test.each(['worktree', 'clone'] as const)('that rewrote the base of a %s is told so', async (kind) => {
    commit(world.repo, 'base');
    const { record } = await make(kind);
    git(world.repo, 'reset', '-q', '--hard', 'HEAD~1');
    const now = commit(world.repo, 'instead');
    const { base_commit: base } = record;
    expect(await observeSource(record)).toEqual({ state: 'rewritten', base, branch: 'main', commit: now });
    git(world.repo, 'reflog', 'expire', '--expire=now', '--all');
    git(world.repo, 'gc', '-q', '--prune=now');
    expect(await observeSource(record)).toMatchObject({ state: 'rewritten' });
  });

  test('that merged and deleted the branch has not rewritten anything', async () => {
    git(world.repo, 'checkout', '-q', '-b', 'topic');
    commit(world.repo, 'base');
    const { record } = await make();
    git(world.repo, 'checkout', '-q', 'main');
    git(world.repo, 'merge', '-q', 'topic');
    git(world.repo, 'branch', '-q', '-d', 'topic');
    expect(await observeSource(record)).toEqual({ state: 'unchanged' });
  });

  test('that was made bare goes on', async () => {
    const { record } = await make();
    git(world.repo, 'config', 'core.bare', 'true');
    expect(await observeSource(record)).toEqual({ state: 'unchanged' });
  });

  test('whose git fails is unknown', async () => {
    const { record } = await make();
    const failing = async () => Promise.reject(new Error('no'));
    expect(await observeSource(record, { git: failing })).toMatchObject({ state: 'unknown' });
  });

  test('O32: that uses the branch elsewhere is told so, with the place', async () => {
    const { record, tree } = await make();
    git(tree, 'checkout', '-q', '--detach');
    const other = join(world.dir, 'other');
    git(world.repo, 'worktree', 'add', '-q', other, BRANCH);
    const expected = { state: 'branch_elsewhere', branch: BRANCH, worktree: other };
    expect(await observeSource(record)).toEqual(expected);
    rmSync(tree, { recursive: true });
    expect(await observeSource(record)).toEqual(expected);
    await expect(recreateTree(record, { branch: BRANCH, commit: record.base_commit })).rejects.toMatchObject({
      code: 'BRANCH_IN_USE',
      message: expect.stringContaining(other),
    });
  });
});

describe('a source that is not there', () => {
  test('O27: because it was moved is missing, and is repaired from its new place', async () => {
    const { record, tree } = await make();
    write(join(tree, 'unsaved'), 'x');
    const moved = join(world.dir, 'moved');
    renameSync(world.repo, moved);
    expect(await observeSource(record)).toMatchObject({ state: 'source_missing', source: world.repo });
    await expect(repairRegistration(record)).rejects.toMatchObject({ code: 'REPAIR_FAILED' });
    await expect(repairRegistration(record, { source: world.remote })).rejects.toMatchObject({
      code: 'REPAIR_FAILED',
    });
    const files = filesOf(tree);
    const repaired = await repairRegistration(record, { source: moved });
    expect(repaired).toMatchObject({ original_src: moved, git_common_dir: join(moved, '.git') });
    expect(await observeSource(repaired)).toEqual({ state: 'unchanged' });
    expect(filesOf(tree)).toEqual(files);
    expect(git(tree, 'status', '--porcelain')).toBe('?? unsaved');
  });

  test('because another one is at its place is missing', async () => {
    const { record } = await make();
    rmSync(world.repo, { recursive: true });
    git(world.dir, 'clone', '-q', world.remote, world.repo);
    expect(await observeSource(record)).toMatchObject({ state: 'source_missing' });
  });

  test('does not matter to a clone', async () => {
    const { record } = await make('clone');
    rmSync(world.repo, { recursive: true });
    expect(await observeSource(record)).toEqual({ state: 'unchanged' });
  });
});

describe('a registration', () => {
  test('O25: that was pruned is made again on its branch, and no file is touched', async () => {
    const { record, tree } = await make();
    const head = commit(tree, 'work');
    write(join(tree, 'README'), 'changed\n');
    write(join(tree, 'unsaved'), 'x');
    rmSync(join(world.repo, '.git', 'worktrees'), { recursive: true });
    expect(() => git(tree, 'status')).toThrow();
    expect(await observeSource(record)).toMatchObject({ state: 'registration_missing', repairable: true });
    const files = filesOf(tree);
    const repaired = await repairRegistration(record);
    expect(filesOf(tree)).toEqual(files);
    expect(git(tree, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(tree, 'status', '--porcelain')).toBe(' M README\n?? unsaved');
    expect(await observeSource(repaired)).toEqual({ state: 'unchanged' });
    expect(git(world.repo, 'worktree', 'list', '--porcelain')).toContain('locked jackin');
    expect(git(world.repo, 'worktree', 'list').split('\n')).toHaveLength(2);
  });

  test('O25: that is locked survives prune and gc from either side', async () => {
    const { record, tree } = await make();
    commit(tree, 'work');
    renameSync(tree, `${tree}-away`);
    git(world.repo, 'worktree', 'prune', '--expire=now');
    git(world.repo, 'gc', '-q', '--prune=now');
    renameSync(`${tree}-away`, tree);
    expect(git(tree, 'status', '--porcelain')).toBe('');
    git(tree, 'worktree', 'prune', '--expire=now');
    expect(await observeSource(record)).toEqual({ state: 'unchanged' });
  });

  test('whose branch is gone, too, makes the source another one, and nothing is repaired', async () => {
    const { record } = await make();
    rmSync(join(world.repo, '.git', 'worktrees'), { recursive: true });
    git(world.repo, 'branch', '-q', '-D', BRANCH);
    expect(await observeSource(record)).toMatchObject({ state: 'source_missing' });
    await expect(repairRegistration(record)).rejects.toMatchObject({ code: 'REPAIR_FAILED' });
  });

  test('O19: is written into a tree whose .git file is gone, and git no longer answers for another repository', async () => {
    const { record, tree } = await make();
    rmSync(join(tree, '.git'));
    expect(await observeSource(record)).toMatchObject({ state: 'registration_missing' });
    await repairRegistration(record);
    expect(git(tree, 'rev-parse', '--show-toplevel')).toBe(tree);
    expect(await observeSource(record)).toEqual({ state: 'unchanged' });
  });

  test('that leads somewhere else is repaired', async () => {
    const { record, tree } = await make();
    writeFileSync(join(tree, '.git'), `gitdir: ${world.remote}\n`);
    expect(await observeSource(record)).toMatchObject({ state: 'registration_missing' });
    await repairRegistration(record);
    expect(git(tree, 'status', '--porcelain')).toBe('');
  });

  test('of a tree that has a repository of its own now is unknown and not repaired', async () => {
    const { record, tree } = await make();
    rmSync(join(tree, '.git'));
    git(tree, 'init', '-q');
    expect(await observeSource(record)).toMatchObject({ state: 'unknown' });
    await expect(repairRegistration(record)).rejects.toMatchObject({ code: 'REPAIR_FAILED' });
    expect(existsSync(join(tree, '.git', 'HEAD'))).toBe(true);
  });

  test('of an instance that was moved is repaired as git would', async () => {
    const { record, tree } = await make();
    renameSync(join(world.dir, 'home'), join(world.dir, 'home2'));
    const moved = { ...record, worktree_path: tree.replace('/home/', '/home2/') };
    expect(await observeSource(moved)).toMatchObject({ state: 'registration_missing' });
    await repairRegistration(moved);
    const pointer = join(world.repo, '.git', 'worktrees', record.registration ?? '', 'gitdir');
    const ours = readFileSync(pointer, 'utf8');
    git(world.repo, 'worktree', 'repair', moved.worktree_path);
    expect(readFileSync(pointer, 'utf8')).toBe(ours);
    expect(await observeSource(moved)).toEqual({ state: 'unchanged' });
  });
});

describe('a tree that is gone', () => {
  test('O28: is named with its branch, and made again at the same path with what was committed and staged', async () => {
    const { record, tree } = await make();
    const head = commit(tree, 'work');
    write(join(tree, 'staged'), 'x');
    git(tree, 'add', 'staged');
    write(join(tree, 'lost'), 'x');
    rmSync(tree, { recursive: true });
    expect(await observeSource(record)).toEqual({
      state: 'tree_missing',
      path: tree,
      branch: BRANCH,
      commit: head,
    });
    const made = await recreateTree(record, { branch: BRANCH, commit: head });
    expect(git(tree, 'status', '--porcelain')).toBe('A  staged');
    expect(existsSync(join(tree, 'lost'))).toBe(false);
    expect(await observeSource(made.record)).toEqual({ state: 'unchanged' });
  });

  test('O28: is made again when git worktree remove took its registration, too', async () => {
    const { record, tree } = await make();
    const head = commit(tree, 'work');
    git(world.repo, 'worktree', 'remove', '-f', '-f', tree);
    expect(await observeSource(record)).toMatchObject({ state: 'tree_missing', commit: head });
    const made = await recreateTree(record, { branch: BRANCH, commit: head });
    expect(git(tree, 'log', '-1', '--format=%s')).toBe('write work');
    expect(git(world.repo, 'worktree', 'list', '--porcelain')).toContain('locked jackin');
    expect(await observeSource(made.record)).toEqual({ state: 'unchanged' });
  });

  test('O20: is never made over something that is there, nor from a branch that has moved', async () => {
    const { record, tree } = await make();
    write(join(tree, 'two hundred lines'), 'x');
    const from = { branch: BRANCH, commit: record.base_commit };
    await expect(recreateTree(record, from)).rejects.toMatchObject({ code: 'TREE_EXISTS' });
    commit(tree, 'moved');
    rmSync(tree, { recursive: true });
    await expect(recreateTree(record, from)).rejects.toMatchObject({ code: 'STATE_CHANGED' });
    expect(existsSync(tree)).toBe(false);
    mkdirSync(tree);
    await expect(recreateTree(record, from)).rejects.toMatchObject({ code: 'TREE_EXISTS' });
  });

  test('is a missing tree without a branch for a clone', async () => {
    const { record, tree } = await make('clone');
    rmSync(tree, { recursive: true });
    expect(await observeSource(record)).toEqual({
      state: 'tree_missing',
      path: tree,
      branch: null,
      commit: null,
    });
  });
});

describe('a registration a container has written', () => {
  test('that brings settings of its own is neither filled nor repaired, and nothing runs', async () => {
    git(world.repo, 'config', 'extensions.worktreeConfig', 'true');
    const { record, tree } = await make();
    const marker = join(world.dir, 'ran');
    write(join(tree, '.gitattributes'), '* filter=x\n');
    const head = commit(tree, 'work');
    const admin = join(world.repo, '.git', 'worktrees', record.registration ?? '');
    const file = join(admin, 'config.worktree');
    writeFileSync(file, `[filter "x"]\n\tsmudge = touch ${marker}; cat\n`);
    rmSync(join(tree, '.git'));
    await expect(repairRegistration(record)).rejects.toMatchObject({
      code: 'REPAIR_FAILED',
      message: expect.stringContaining(file),
    });
    rmSync(tree, { recursive: true });
    await expect(recreateTree(record, { branch: BRANCH, commit: head })).rejects.toMatchObject({
      code: 'MATERIALISE_FAILED',
      message: expect.stringContaining(file),
    });
    expect([existsSync(marker), existsSync(tree)]).toEqual([false, false]);
  });

  test('keeps its index when files cannot be written, and a copy of one that is damaged', async () => {
    const { record, tree } = await make();
    write(join(tree, 'staged'), 'only here');
    git(tree, 'add', 'staged');
    const object = git(tree, 'rev-parse', ':staged');
    const from = { branch: BRANCH, commit: record.base_commit };
    const index = join(world.repo, '.git', 'worktrees', record.registration ?? '', 'index');
    const before = readFileSync(index);
    rmSync(tree, { recursive: true });
    rmSync(join(world.repo, '.git', 'objects', object.slice(0, 2), object.slice(2)));
    await expect(recreateTree(record, from)).rejects.toMatchObject({ code: 'MATERIALISE_FAILED' });
    expect(readFileSync(index)).toEqual(before);
    writeFileSync(index, 'damaged');
    await recreateTree(record, from);
    expect(readFileSync(`${index}.before-recreate`, 'utf8')).toBe('damaged');
    expect(git(tree, 'status', '--porcelain')).toBe('');
  });
});
