import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { materialise, removeMaterialised } from '../../src/index.ts';
import { commit, git, listing, makeWorld, planned, type World, write } from '../materialise/support.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.clean());

const BRANCH = 'jackin/scratch/jk-aaaa1111-app-role';

async function worktree() {
  const { record } = await materialise(await planned(world, { src: world.repo }));
  return { record, tree: record.worktree_path };
}

function branches(): string[] {
  return git(world.repo, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
}

describe('removing a worktree', () => {
  test('also works when its directory was deleted by hand', async () => {
    const { record, tree } = await worktree();
    rmSync(tree, { recursive: true });
    expect((await removeMaterialised(record)).removed).toHaveLength(2);
    expect(branches()).toEqual(['main']);
    expect(git(world.repo, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('also works when its registration was pruned', async () => {
    const { record, tree } = await worktree();
    rmSync(join(world.repo, '.git', 'worktrees'), { recursive: true });
    expect((await removeMaterialised(record)).removed).toHaveLength(2);
    expect(existsSync(tree)).toBe(false);
    expect(branches()).toEqual(['main']);
  });

  test('also works when its repository is gone, and says so', async () => {
    const { record, tree } = await worktree();
    renameSync(world.repo, join(world.dir, 'elsewhere'));
    const { removed, notices } = await removeMaterialised(record);
    expect(removed).toEqual([`worktree ${tree}`]);
    expect(notices.join()).toContain('gone');
  });

  test('takes the registrations of worktrees that were added in the session, wherever, and no other', async () => {
    const { record, tree } = await worktree();
    const data = world.data('jk-aaaa1111-app-role');
    const mine = join(world.dir, 'mine');
    const sibling = join(data, 'git/worktree/repo/other/jk-aaaa1111-app-role');
    git(tree, 'switch', '-q', '-c', 'own');
    git(world.repo, 'worktree', 'add', '-q', join(data, 'home/added'), BRANCH);
    git(world.repo, 'worktree', 'add', '-q', '--lock', '-b', 'inside', join(tree, '.hidden/x'));
    git(world.repo, 'worktree', 'add', '-q', '--detach', join(tree, '../beside'));
    git(world.repo, 'worktree', 'add', '-q', '--detach', join(data, 'home/gone'));
    rmSync(join(data, 'home/gone'), { recursive: true });
    for (const path of [mine, sibling]) git(world.repo, 'worktree', 'add', '-q', '--detach', path);
    const { removed, notices } = await removeMaterialised(record);
    expect(notices).toEqual([]);
    expect(removed.filter((what) => what.startsWith('registration'))).toHaveLength(5);
    expect(git(world.repo, 'worktree', 'list').split('\n')).toHaveLength(3);
    for (const path of [mine, sibling]) expect(git(path, 'status', '--porcelain')).toBe('');
    expect(branches()).toEqual(['inside', 'main', 'own']);
  });

  test('leaves the registration of an added worktree that was moved out of the session', async () => {
    const { record } = await worktree();
    const [added, elsewhere] = [join(world.data('jk-aaaa1111-app-role'), 'home/wt'), join(world.dir, 'big')];
    git(world.repo, 'worktree', 'add', '-q', '--detach', added);
    renameSync(added, elsewhere);
    symlinkSync(elsewhere, added);
    const only = commit(elsewhere, 'only-here');
    await removeMaterialised(record);
    expect(git(elsewhere, 'log', '-1', '--format=%H')).toBe(only);
  });

  test('finds what was added also where the data directory is reached by a link', async () => {
    const real = join(world.dir, 'real');
    mkdirSync(real);
    symlinkSync(real, join(world.dir, 'home'));
    const { record } = await worktree();
    git(world.repo, 'worktree', 'add', '-q', '--detach', join(world.data('jk-aaaa1111-app-role'), 'home/wt'));
    await removeMaterialised(record);
    expect(git(world.repo, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  test('keeps what cannot be looked at', async () => {
    const { record, tree } = await worktree();
    const git = async () => Promise.reject(new Error('no'));
    await expect(removeMaterialised(record, { git })).rejects.toMatchObject({ code: 'REPOSITORY_UNKNOWN' });
    expect(existsSync(join(tree, 'README'))).toBe(true);
  });

  test('O18: keeps a tree that somebody else has locked, and everything with it', async () => {
    const { record, tree } = await worktree();
    git(world.repo, 'worktree', 'unlock', tree);
    git(world.repo, 'worktree', 'lock', '--reason', 'on a stick', tree);
    await expect(removeMaterialised(record)).rejects.toMatchObject({
      code: 'TREE_LOCKED',
      message: expect.stringContaining('on a stick'),
    });
    expect(existsSync(join(tree, 'README'))).toBe(true);
    expect(branches()).toContain(BRANCH);
  });

  test('O18: of a record whose registration another tree has now touches only its own', async () => {
    const { record, tree } = await worktree();
    rmSync(tree, { recursive: true });
    rmSync(join(world.repo, '.git', 'worktrees'), { recursive: true });
    const other = join(world.dir, 'jk-aaaa1111-app-role');
    git(world.repo, 'worktree', 'add', '-q', '--detach', other);
    await removeMaterialised(record);
    expect(git(other, 'status', '--porcelain')).toBe('');
  });

  test('O13: leaves a branch the agent made and the one it is on', async () => {
    const { record, tree } = await worktree();
    git(tree, 'checkout', '-q', '-b', 'feature');
    commit(tree, 'work');
    await removeMaterialised(record);
    expect(branches()).toEqual(['feature', 'main']);
  });

  test('O32: leaves our branch where it is checked out in another tree', async () => {
    const { record, tree } = await worktree();
    git(tree, 'checkout', '-q', '--detach');
    const other = join(world.dir, 'other');
    git(world.repo, 'worktree', 'add', '-q', other, BRANCH);
    const { notices } = await removeMaterialised(record);
    expect(notices.join()).toContain(other);
    expect(branches()).toContain(BRANCH);
    expect(git(other, 'status', '--porcelain')).toBe('');
  });

  test('removes nothing when the branch has moved since it was decided', async () => {
    const { record, tree } = await worktree();
    commit(tree, 'late');
    await expect(removeMaterialised(record, { branchTip: record.base_commit })).rejects.toMatchObject({
      code: 'STATE_CHANGED',
    });
    expect(existsSync(join(tree, 'late'))).toBe(true);
  });

  test.each(['HEAD', 'commondir', 'index', 'config.worktree'])(
    'waits for no pipe that is the %s of its registration, and looks at the branch before anything goes',
    async (name) => {
      const { record, tree } = await worktree();
      commit(tree, 'late');
      const tip = git(tree, 'rev-parse', 'HEAD');
      const admin = join(world.repo, '.git/worktrees', record.registration ?? '');
      rmSync(join(admin, name), { force: true });
      execFileSync('mkfifo', [join(admin, name)]);
      await expect(removeMaterialised(record, { branchTip: record.base_commit })).rejects.toMatchObject({
        code: 'STATE_CHANGED',
      });
      expect(existsSync(join(tree, 'late'))).toBe(true);
      expect(existsSync(admin)).toBe(true);
      await removeMaterialised(record, { branchTip: tip });
      expect([existsSync(tree), existsSync(admin)]).toEqual([false, false]);
      expect(branches()).toEqual(['main']);
    },
  );

  test('never follows a link out of the tree', async () => {
    const { record, tree } = await worktree();
    write(join(world.dir, 'outside', 'precious'), 'x');
    execFileSync('ln', ['-s', join(world.dir, 'outside'), join(tree, 'out')]);
    await removeMaterialised(record);
    expect(existsSync(join(world.dir, 'outside', 'precious'))).toBe(true);
  });

  test('refuses a recorded path that is not where a tree lies', async () => {
    const { record } = await worktree();
    for (const path of [world.repo, '/', join(world.dir, 'x', record.container_name)]) {
      await expect(removeMaterialised({ ...record, worktree_path: path })).rejects.toMatchObject({
        code: 'PATH_OUTSIDE',
      });
    }
    expect(existsSync(join(world.repo, 'README'))).toBe(true);
  });

  test('does not follow a worktrees directory that was replaced by a link', async () => {
    const { record } = await worktree();
    const real = join(world.repo, '.git', 'worktrees');
    renameSync(real, join(world.dir, 'moved'));
    execFileSync('ln', ['-s', join(world.dir, 'moved'), real]);
    await removeMaterialised(record);
    expect(existsSync(join(world.dir, 'moved', 'jk-aaaa1111-app-role', 'HEAD'))).toBe(true);
  });
});

const root = process.getuid?.() === 0;

describe('a tree of another user', () => {
  test('O23: that cannot be removed is its own error, whose hint gives the files back and forces nothing', async () => {
    const { record, tree } = await worktree();
    mkdirSync(join(tree, 'build'));
    writeFileSync(join(tree, 'build', 'out'), 'x');
    const script = `
      import { removeMaterialised } from '@jackin/isolation';
      const record = JSON.parse(process.argv[1]);
      await removeMaterialised(record).then(() => console.log('{}'), (error) => console.log(JSON.stringify(error)));
    `;
    if (!root) {
      chmodSync(join(tree, 'build'), 0o555);
    } else {
      // The machine's root owns one directory; the user who removes owns all else.
      execFileSync('chown', ['-R', '1000:1000', world.dir]);
      execFileSync('chown', ['-R', '0:0', join(tree, 'build')]);
    }
    const out = execFileSync(
      process.execPath,
      ['--conditions=@jackin/source', '--input-type=module', '-e', script, JSON.stringify(record)],
      {
        cwd: join(import.meta.dirname, '..', '..'),
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: world.dir },
        ...(root ? { uid: 1000, gid: 1000 } : {}),
      },
    );
    const error = JSON.parse(out) as { code: string; hint: string; message: string };
    if (!root) {
      // A directory of one's own is opened again.
      expect(error).toEqual({});
      return;
    }
    expect(error.code).toBe('TREE_PERMISSION');
    expect(error.message).toContain('build');
    expect(error.hint).toContain('chown');
    expect(error.hint).not.toMatch(/force/i);
    expect(git(world.repo, 'worktree', 'list')).toContain(tree);
    execFileSync('chown', ['-R', '1000:1000', tree]);
    expect((await removeMaterialised(record)).removed).toHaveLength(3);
  });

  test('is made from and removed as root without asking git to trust anybody else', async () => {
    if (root) execFileSync('chown', ['-R', '1000:1000', world.repo]);
    const { record, tree } = await worktree();
    if (root) execFileSync('chown', ['-R', '1000:1000', tree]);
    const clone = await materialise(
      await planned(world, { src: world.repo, isolation: 'clone' }, { container: 'jk-bbbb2222-app-role' }),
    );
    expect((await removeMaterialised(record)).removed).toHaveLength(3);
    expect((await removeMaterialised(clone.record)).removed).toHaveLength(1);
  });
});

describe('two worktrees, a clone and the operator on one repository', () => {
  test.each([[['a', 'b', 'c']], [['c', 'b', 'a']], [['b', 'a', 'c']]])(
    'O22: removed in the order %j leave the operator what he had',
    async (order) => {
      const mine = join(world.dir, 'mine');
      git(world.repo, 'worktree', 'add', '-q', '-b', 'mine', mine);
      commit(mine, 'mine');
      write(join(mine, 'dirty'), 'x');
      write(join(world.repo, '.git', 'hooks', 'post-checkout'), '#!/bin/sh\nexit 1\n');
      const plumbing = (name: string) => name.startsWith('objects');
      const before = listing(join(world.repo, '.git'), plumbing);
      const made = new Map<string, Awaited<ReturnType<typeof materialise>>['record']>();
      for (const name of ['a', 'b', 'c']) {
        const isolation = name === 'c' ? ('clone' as const) : ('worktree' as const);
        const container = `jk-${name.repeat(8)}-app-role`;
        const { record } = await materialise(
          await planned(world, { src: world.repo, isolation }, { container }),
        );
        made.set(name, record);
      }
      for (const record of made.values()) {
        commit(record.worktree_path, `work-${record.container_name}`);
        write(join(record.worktree_path, 'unsaved'), 'x');
        git(record.worktree_path, 'stash', 'push', '-q', '-u');
        git(record.worktree_path, 'stash', 'pop', '-q');
      }
      git(world.repo, 'worktree', 'prune', '--expire=now');
      git(world.repo, 'gc', '-q', '--prune=now');
      git(world.repo, 'pack-refs', '--no-prune');
      const packed = listing(join(world.repo, '.git'), plumbing);
      for (const name of order) {
        for (const record of made.values()) {
          expect(git(record.worktree_path, 'status', '--porcelain')).toBe('?? unsaved');
          expect(git(record.worktree_path, 'log', '-1', '--format=%s')).toBe(
            `write work-${record.container_name}`,
          );
        }
        const record = made.get(name);
        if (record === undefined) throw new Error(name);
        await removeMaterialised(record);
        made.delete(name);
        expect(git(world.repo, 'fsck', '--no-dangling')).toBe('');
        expect(git(mine, 'status', '--porcelain')).toBe('?? dirty');
      }
      // What gc has packed stays packed; everything else is as before.
      const after = listing(join(world.repo, '.git'), plumbing);
      for (const name of ['config', 'HEAD', 'index', 'hooks/post-checkout', 'worktrees/mine/gitdir']) {
        expect(after[name]).toBe(before[name]);
      }
      expect(Object.keys(after).filter((name) => name.includes('jk-'))).toEqual([]);
      expect(Object.keys(packed).some((name) => name.includes('jk-'))).toBe(true);
      expect(git(world.repo, 'for-each-ref', '--format=%(refname)').split('\n')).toEqual([
        'refs/heads/main',
        'refs/heads/mine',
        'refs/remotes/origin/main',
      ]);
    },
  );
});
