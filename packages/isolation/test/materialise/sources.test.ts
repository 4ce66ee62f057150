import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type GitOptions, hardenedGit } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  assessRecord,
  inspectSource,
  materialise,
  observeSource,
  prepareContainerView,
  removeMaterialised,
} from '../../src/index.ts';
import { removeIfEmpty } from '../../src/materialise/registration.ts';
import { commit, decide, git, makeWorld, planned, refusalOf, type World, write } from './support.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.clean());

describe('a source is refused', () => {
  test.each([
    ['rebase', 'rebase-merge/head-name'],
    ['am', 'rebase-apply/applying'],
    ['merge', 'MERGE_HEAD'],
    ['cherry-pick', 'CHERRY_PICK_HEAD'],
    ['revert', 'REVERT_HEAD'],
    ['bisect', 'BISECT_LOG'],
  ])('in the middle of a %s', async (operation, file) => {
    write(join(world.repo, '.git', file), 'x');
    const decision = await decide(world, { src: world.repo });
    expect(decision).toMatchObject({
      outcome: 'refused',
      error: { code: 'SOURCE_BUSY', details: { operation } },
    });
  });

  test('when a real rebase stopped half way', async () => {
    git(world.repo, 'checkout', '-q', '-b', 'topic');
    commit(world.repo, 'README', 'topic');
    git(world.repo, 'checkout', '-q', 'main');
    commit(world.repo, 'README', 'main');
    expect(() => git(world.repo, 'rebase', 'topic')).toThrow();
    expect(await refusalOf(world, { src: world.repo })).toBe('SOURCE_BUSY');
  });

  test('when it is not the top level, which is named', async () => {
    mkdirSync(join(world.repo, 'sub'));
    const decision = await decide(world, { src: join(world.repo, 'sub') });
    expect(decision).toMatchObject({
      outcome: 'refused',
      error: { code: 'SOURCE_NOT_TOP_LEVEL', details: { top_level: world.repo } },
    });
  });

  test('when it belongs to no repository, is bare, or has no commit yet', async () => {
    mkdirSync(join(world.dir, 'plain'));
    expect(await refusalOf(world, { src: join(world.dir, 'plain') })).toBe('SOURCE_NOT_A_REPOSITORY');
    expect(await refusalOf(world, { src: world.remote })).toBe('SOURCE_BARE');
    git(world.dir, 'init', '-q', '-b', 'main', 'empty');
    expect(await refusalOf(world, { src: join(world.dir, 'empty') })).toBe('SOURCE_UNBORN');
  });

  test('when it cannot be looked at', async () => {
    expect(await refusalOf(world, { src: join(world.dir, 'missing') })).toBe('SOURCE_UNKNOWN');
    writeFileSync(join(world.repo, '.git', 'config'), '[core\n');
    expect(await refusalOf(world, { src: world.repo })).toBe('SOURCE_UNKNOWN');
  });

  test('when hooks or the like are kept elsewhere and an agent in a container could replace the link', async () => {
    renameSync(join(world.repo, '.git', 'hooks'), join(world.dir, 'hooks'));
    symlinkSync(join(world.dir, 'hooks'), join(world.repo, '.git', 'hooks'));
    expect(await refusalOf(world, { src: world.repo })).toBe('SOURCE_LINKED');
    await planned(world, { src: world.repo }, { contained: false });
    await planned(world, { src: world.repo, isolation: 'clone' });
  });

  test('when its directory of hooks is below it and a link', async () => {
    git(world.repo, 'config', 'core.hooksPath', '.git/shared/hooks');
    symlinkSync(world.dir, join(world.repo, '.git', 'shared'));
    expect(await refusalOf(world, { src: world.repo })).toBe('SOURCE_LINKED');
  });

  test('when a commondir file makes git read its configuration elsewhere, and no git is run there', async () => {
    const marker = join(world.dir, 'marker');
    const evil = join(world.repo, '.git/evil');
    cpSync(join(world.repo, '.git'), join(world.dir, 'copy'), { recursive: true });
    cpSync(join(world.dir, 'copy'), evil, { recursive: true });
    writeFileSync(join(evil, 'config'), `[core]\n\tfsmonitor = touch ${marker}\n`);
    const { record } = await materialise(await planned(world, { src: world.repo }));
    writeFileSync(join(world.repo, '.git/commondir'), 'evil\n');
    // The proof that it is one: git itself runs what was planted.
    git(world.repo, 'status');
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    expect(await refusalOf(world, { src: world.repo })).toBe('SOURCE_UNKNOWN');
    expect(await assessRecord(record)).toMatchObject({
      verdict: 'unknown',
      reason: expect.stringContaining('commondir'),
    });
    expect((await observeSource(record)).state).toBe('unknown');
    await expect(prepareContainerView(record)).rejects.toMatchObject({ code: 'GIT_DIRECTORY_REDIRECTED' });
    await expect(removeMaterialised(record)).rejects.toMatchObject({ code: 'REPOSITORY_UNKNOWN' });
    expect(existsSync(record.worktree_path)).toBe(true);
    expect(existsSync(marker)).toBe(false);
  });

  test('when its HEAD names a commit that is not there', async () => {
    writeFileSync(join(world.repo, '.git', 'refs', 'heads', 'main'), `${'1'.repeat(40)}\n`);
    expect(await refusalOf(world, { src: world.repo })).toBe('SOURCE_UNKNOWN');
  });

  test('when it is dirty and nobody can be asked, and only told otherwise', async () => {
    write(join(world.repo, 'new'), 'x');
    expect(await refusalOf(world, { src: world.repo }, { interactive: false })).toBe('SOURCE_DIRTY');
    const forced = await planned(world, { src: world.repo }, { interactive: false, force: true });
    expect(forced.notices.join()).toContain('one uncommitted change');
    const asked = await planned(world, { src: world.repo });
    expect(asked.notices.join()).toContain('one uncommitted change');
  });

  test('when it is read-only or holds credentials', async () => {
    expect(await refusalOf(world, { src: world.repo, readonly: true })).toBe('ISOLATION_READ_ONLY');
    expect(await refusalOf(world, { src: world.repo }, { credentials: '.ssh' })).toBe(
      'ISOLATION_CREDENTIALS',
    );
  });

  test('as a clone when its origin cannot be given to one, but not as a worktree', async () => {
    git(world.repo, 'config', 'remote.origin.url', 'ext::sh -c id');
    expect(await refusalOf(world, { src: world.repo, isolation: 'clone' })).toBe('ORIGIN_UNREADABLE');
    expect(await refusalOf(world, { src: world.repo })).toBe('make');
  });

  test('as a clone when it is a partial clone itself', async () => {
    git(world.repo, 'config', 'remote.origin.promisor', 'true');
    expect(await refusalOf(world, { src: world.repo, isolation: 'clone' })).toBe('SOURCE_PARTIAL');
    expect(await refusalOf(world, { src: world.repo })).toBe('make');
  });

  test('when a branch leaves no name for ours', async () => {
    git(world.repo, 'branch', 'jackin');
    expect(await refusalOf(world, { src: world.repo })).toBe('SCRATCH_BRANCH_TAKEN');
  });

  test('when something is where the tree is to be, at both looks', async () => {
    expect(await refusalOf(world, { src: world.repo }, { treeExists: 'yes' })).toBe('TREE_EXISTS');
    expect(await refusalOf(world, { src: world.repo }, { treeExists: 'unknown' })).toBe('TREE_EXISTS');
    const plan = await planned(world, { src: world.repo });
    write(join(plan.tree, 'precious'), 'x');
    await expect(materialise(plan)).rejects.toMatchObject({ code: 'TREE_EXISTS' });
  });
});

describe('a source', () => {
  test('O26: that is itself a linked worktree is used with its own HEAD and its repository', async () => {
    const linked = join(world.dir, 'linked');
    git(world.repo, 'worktree', 'add', '-q', '-b', 'side', linked);
    const head = commit(linked, 'side');
    const { record } = await materialise(await planned(world, { src: linked }));
    expect(record).toMatchObject({
      base_commit: head,
      host_branch: 'side',
      original_src: linked,
      git_common_dir: join(world.repo, '.git'),
    });
    expect(git(record.worktree_path, 'log', '-1', '--format=%s')).toBe('write side');
    const clone = await materialise(
      await planned(world, { src: linked, isolation: 'clone' }, { container: 'jk-bbbb2222-app-role' }),
    );
    expect(git(clone.record.worktree_path, 'symbolic-ref', '--short', 'HEAD')).toBe('side');
  });

  test('O26: that is itself a submodule works as a worktree and as a clone', async () => {
    const inner = join(world.dir, 'inner');
    git(world.dir, 'init', '-q', '-b', 'main', inner);
    const head = commit(inner, 'inner');
    git(world.repo, 'submodule', 'add', '-q', inner, 'sub');
    git(world.repo, 'commit', '-q', '-m', 'sub');
    const src = join(world.repo, 'sub');
    const { record } = await materialise(await planned(world, { src }));
    expect(record.git_common_dir).toBe(join(world.repo, '.git', 'modules', 'sub'));
    expect(git(record.worktree_path, 'status', '--porcelain')).toBe('');
    expect(git(record.worktree_path, 'rev-parse', 'HEAD')).toBe(head);
    const clone = await materialise(
      await planned(world, { src, isolation: 'clone' }, { container: 'jk-bbbb2222-app-role' }),
    );
    expect(git(clone.record.worktree_path, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('reached through a link is the directory it leads to', async () => {
    symlinkSync(world.repo, join(world.dir, 'link'));
    expect((await inspectSource(join(world.dir, 'link'))).src).toBe(world.repo);
    expect(await refusalOf(world, { src: join(world.dir, 'link') })).toBe('make');
  });

  test('with a space and a newline in its name is a worktree like any other', async () => {
    const odd = join(world.dir, 'a b\nc');
    renameSync(world.repo, odd);
    const { record } = await materialise(await planned(world, { src: odd, dst: '/work space/a\nb' }));
    expect(git(record.worktree_path, 'status', '--porcelain')).toBe('');
    expect(record.registration).toBe('jk-aaaa1111-app-role');
  });

  test('with a detached HEAD gives a tree of that commit', async () => {
    git(world.repo, 'checkout', '-q', '--detach');
    const { record } = await materialise(await planned(world, { src: world.repo, isolation: 'clone' }));
    expect(record.host_branch).toBeUndefined();
    expect(record.scratch_branch).toBe('');
    expect(() => git(record.worktree_path, 'symbolic-ref', '-q', 'HEAD')).toThrow();
    expect(git(record.worktree_path, 'rev-parse', 'HEAD')).toBe(record.base_commit);
  });

  test('without an origin gives a clone without a remote', async () => {
    git(world.repo, 'remote', 'remove', 'origin');
    const plan = await planned(world, { src: world.repo, isolation: 'clone' });
    const { record } = await materialise(plan);
    expect(git(record.worktree_path, 'remote')).toBe('');
    expect(plan.notices.join()).toContain('no origin');
  });

  test('of sha256 objects gives trees of them', async () => {
    rmSync(world.repo, { recursive: true });
    git(world.dir, 'init', '-q', '-b', 'main', '--object-format=sha256', world.repo);
    const head = commit(world.repo, 'x');
    const clone = await materialise(await planned(world, { src: world.repo, isolation: 'clone' }));
    expect(git(clone.record.worktree_path, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('that borrows its objects gives a clone that does not', async () => {
    const borrower = join(world.dir, 'borrower');
    git(world.dir, 'clone', '-q', '--shared', world.repo, borrower);
    const { record } = await materialise(await planned(world, { src: borrower, isolation: 'clone' }));
    rmSync(world.repo, { recursive: true });
    expect(git(record.worktree_path, 'fsck')).toBe('');
  });

  test('that is shallow gives a clone that is, too', async () => {
    commit(world.repo, 'second');
    git(world.repo, 'push', '-q');
    const shallow = join(world.dir, 'shallow');
    git(world.dir, 'clone', '-q', '--depth=1', `file://${world.remote}`, shallow);
    const { record } = await materialise(await planned(world, { src: shallow, isolation: 'clone' }));
    expect(git(record.worktree_path, 'rev-list', '--count', 'HEAD')).toBe('1');
  });
});

describe('the branch of a worktree', () => {
  const name = 'jackin/scratch/jk-aaaa1111-app-role';

  test('that is left from before without a commit of its own is adopted at the base', async () => {
    git(world.repo, 'branch', name);
    const head = commit(world.repo, 'newer');
    const { record } = await materialise(await planned(world, { src: world.repo }));
    expect(record.scratch_branch).toBe(name);
    expect(git(record.worktree_path, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('O31: that has commits of its own or is in use stays, and another name is taken', async () => {
    git(world.repo, 'checkout', '-q', '-b', name);
    const own = commit(world.repo, 'own');
    git(world.repo, 'checkout', '-q', 'main');
    const first = await materialise(await planned(world, { src: world.repo }));
    expect(first.record.scratch_branch).toBe(`${name}-2`);
    expect(first.notices.join()).toContain(name);
    expect(git(world.repo, 'rev-parse', name)).toBe(own);
    const second = await planned(world, { src: world.repo, dst: '/workspace/other' });
    expect(second.scratch?.name).toBe(`${name}-3`);
  });

  test('of a second mount of one repository is another one', async () => {
    const first = await planned(world, { src: world.repo });
    const second = await planned(
      world,
      { src: world.repo, dst: '/b' },
      { plannedScratch: [first.scratch?.name ?? ''] },
    );
    expect(second.scratch?.name).toBe(`${name}-2`);
    const made = [await materialise(first), await materialise(second)];
    expect(new Set(made.map(({ record }) => record.registration)).size).toBe(2);
  });

  test('is made also when a launch that failed beside it takes away the directories it finds empty', async () => {
    const plan = await planned(world, { src: world.repo });
    const beside = async (args: readonly string[], options: GitOptions) => {
      if (args[0] === 'update-ref') expect(await removeIfEmpty(dirname(plan.tree))).toBe(false);
      return await hardenedGit(args, options);
    };
    const { record } = await materialise(plan, { git: beside });
    expect(git(record.worktree_path, 'status', '--porcelain')).toBe('');
  });

  test.each(['worktree', 'clone'] as const)(
    'of two makers of one %s the second leaves the first alone',
    async (kind) => {
      const plan = await planned(world, { src: world.repo, isolation: kind });
      const results = await Promise.allSettled([materialise(plan), materialise(plan)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(git(plan.tree, 'status', '--porcelain')).toBe('');
    },
  );

  test('O31: of two launches under one name at once is made for one of them only', async () => {
    const plan = await planned(world, { src: world.repo });
    const results = await Promise.allSettled([
      materialise(plan),
      materialise({ ...plan, dst: '/b', tree: `${plan.tree}-b` }),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = results.find((result) => result.status === 'fulfilled')?.value.record;
    expect(git(winner?.worktree_path ?? '', 'status', '--porcelain')).toBe('');
  });
});
