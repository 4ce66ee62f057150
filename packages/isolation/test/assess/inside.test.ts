import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { commit, git, session, write } from './helpers.ts';

describe('what a tree holds inside', () => {
  test('files in the place of a submodule without its repository', async () => {
    using s = await session();
    git(s.tree, 'submodule', '--quiet', 'add', s.remote, 'sub');
    git(s.tree, 'commit', '-qm', 'sub');
    git(s.tree, 'push', '-q', 'origin', 's');
    git(s.tree, 'submodule', '--quiet', 'deinit', '-f', 'sub');
    expect(await s.assess()).toMatchObject({ verdict: 'clean', evidence: { files: [] } });
    write(s.tree, 'sub/work', 'x');
    expect(await s.assess()).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ status: '??', path: 'sub/' }] },
    });
  });

  test('commits of a submodule that is not checked out any more', async () => {
    using s = await session();
    git(s.tree, 'submodule', '--quiet', 'add', s.remote, 'sub');
    git(s.tree, 'commit', '-qm', 'sub');
    git(s.tree, 'push', '-q', 'origin', 's');
    commit(join(s.tree, 'sub'), 'work');
    git(s.tree, 'submodule', '--quiet', 'deinit', '-f', 'sub');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { nested: [{ path: '.git/modules/sub', kind: 'submodule', verdict: 'unpushed' }] },
    });
  });

  test('repositories inside of repositories, linked worktrees and bare ones', async () => {
    using s = await session();
    const inner = join(s.tree, 'scratch/n');
    git(s.dir, 'clone', '-q', s.remote, inner);
    git(s.dir, 'clone', '-q', s.remote, join(inner, 'scratch/deep'));
    git(inner, 'worktree', 'add', '-q', '--detach', join(s.tree, 'scratch/linked'));
    git(s.dir, 'clone', '-q', '--bare', s.remote, join(s.tree, 'scratch/bare.git'));
    git(
      join(s.tree, 'scratch/bare.git'),
      'config',
      'remote.origin.fetch',
      '+refs/heads/*:refs/remotes/origin/*',
    );
    git(join(s.tree, 'scratch/bare.git'), 'fetch', '-q');
    const { verdict, evidence } = await s.assess();
    expect([verdict, evidence?.nested.map(({ path, kind, verdict: own }) => [path, kind, own])]).toEqual([
      'clean',
      [
        ['scratch/bare.git', 'repository', 'clean'],
        ['scratch/linked', 'worktree', 'clean'],
        ['scratch/n', 'repository', 'clean'],
      ],
    ]);
    commit(join(s.tree, 'scratch/linked'), 'work');
    commit(join(inner, 'scratch/deep'), 'work');
    const after = await s.assess();
    expect(after.evidence?.nested.map(({ path, verdict: own }) => [path, own])).toEqual([
      ['scratch/bare.git', 'clean'],
      ['scratch/linked', 'unpushed'],
      ['scratch/n', 'unpushed'],
    ]);
  });

  test('a dependency directory that is tracked is entered, one that is ignored is not', async () => {
    using s = await session();
    const untracked = join(s.tree, 'node_modules/x');
    git(s.dir, 'clone', '-q', s.remote, untracked);
    commit(untracked, 'work');
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      evidence: { ignored: { directories: [{ path: 'node_modules' }] } },
    });
    write(s.tree, 'node_modules/y.js', '');
    git(s.tree, 'add', '-f', 'node_modules/y.js');
    git(s.tree, 'commit', '-qm', 'tracked');
    git(s.tree, 'push', '-q', 'origin', 's');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { nested: [{ path: 'node_modules/x' }] },
    });
  });
});
