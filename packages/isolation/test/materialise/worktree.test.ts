import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { materialise, removeMaterialised } from '../../src/index.ts';
import { commit, git, listing, makeWorld, planned, type World, write } from './support.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.clean());

describe('a worktree', () => {
  test('is at the host HEAD on a branch of its own, locked, and known to the repository', async () => {
    const head = git(world.repo, 'rev-parse', 'HEAD');
    const { record } = await materialise(await planned(world, { src: world.repo }));
    const tree = record.worktree_path;
    expect(record).toMatchObject({
      original_src: world.repo,
      isolation: 'worktree',
      base_commit: head,
      scratch_branch: 'jackin/scratch/jk-aaaa1111-app-role',
      host_branch: 'main',
      git_common_dir: join(world.repo, '.git'),
      registration: 'jk-aaaa1111-app-role',
      cleanup_status: 'active',
    });
    expect(record.refs_at_launch).toEqual({
      'refs/heads/main': head,
      'refs/heads/jackin/scratch/jk-aaaa1111-app-role': head,
    });
    expect(git(tree, 'status', '--porcelain', '--branch')).toBe('## jackin/scratch/jk-aaaa1111-app-role');
    expect(readFileSync(join(tree, 'README'), 'utf8')).toBe('hello\n');
    expect(git(world.repo, 'worktree', 'list', '--porcelain')).toContain(
      'locked jackin jk-aaaa1111-app-role',
    );
  });

  test('and its removal leave the repository byte for byte as it was, but for the objects of its commits', async () => {
    const before = listing(join(world.repo, '.git'));
    const { record } = await materialise(await planned(world, { src: world.repo }));
    const during = listing(join(world.repo, '.git'), (name) =>
      /^(worktrees|refs\/heads\/jackin|logs\/refs\/heads\/jackin)/.test(name),
    );
    expect(during).toEqual(before);
    write(join(record.worktree_path, 'dirty'), 'x');
    commit(record.worktree_path, 'work');
    const { removed } = await removeMaterialised(record);
    expect(removed).toHaveLength(3);
    expect(existsSync(record.worktree_path)).toBe(false);
    const objects = (name: string) => name.startsWith('objects');
    expect(listing(join(world.repo, '.git'), objects)).toEqual(
      Object.fromEntries(Object.entries(before).filter(([name]) => !objects(name))),
    );
    expect(await removeMaterialised(record)).toEqual({ removed: [], notices: [] });
    expect(existsSync(join(world.data('jk-aaaa1111-app-role'), 'git'))).toBe(true);
  });
});

describe('a clone', () => {
  test('has the branch of the host, the remote of the host and what the host knows of it', async () => {
    git(world.repo, 'branch', 'other');
    git(world.repo, 'tag', 'v1');
    const base = commit(world.repo, 'unpushed');
    const { record, notices } = await materialise(
      await planned(world, { src: world.repo, isolation: 'clone' }),
    );
    const tree = record.worktree_path;
    expect(git(tree, 'status', '--porcelain', '--branch')).toBe('## main...origin/main [ahead 1]');
    expect(git(tree, 'remote', 'get-url', 'origin')).toBe(world.remote);
    expect(git(tree, 'for-each-ref', '--format=%(refname)').split('\n')).toEqual([
      'refs/heads/main',
      'refs/remotes/origin/main',
      'refs/tags/v1',
    ]);
    expect(record.base_commit).toBe(base);
    expect(notices.join()).toContain('other');
    expect(git(tree, 'fsck')).toBe('');
    expect(existsSync(join(tree, '.git', 'objects', 'info', 'alternates'))).toBe(false);
    expect((await removeMaterialised(record)).removed).toEqual([`clone ${tree}`]);
  });
});
