import { describe, expect, test } from '@jest/globals';
import { commit, git, session, write } from './helpers.ts';

describe('commits that landed in another form', () => {
  test('rebased one by one', async () => {
    using s = await session();
    commit(s.tree, 'one');
    commit(s.tree, 'two');
    commit(s.repo, 'other');
    git(s.repo, 'cherry-pick', 's~1', 's');
    git(s.repo, 'push', '-q');
    git(s.tree, 'fetch', '-q');
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      evidence: { branches: [{ ahead: 2, landed: { how: 'patch' } }] },
    });
  });

  test('a revert is not on the remote because what it goes back to was', async () => {
    using s = await session();
    commit(s.tree, 'one');
    git(s.tree, 'push', '-q', 'origin', 's');
    git(s.tree, 'revert', '--no-edit', 'HEAD');
    expect(await s.assess()).toMatchObject({ verdict: 'unpushed', evidence: { branches: [{ ahead: 1 }] } });
  });

  test('commits that cancel each other out, or change nothing, are not proven by anything', async () => {
    using s = await session();
    commit(s.tree, 'one');
    git(s.tree, 'revert', '--no-edit', 'HEAD');
    commit(s.repo, 'other');
    git(s.repo, 'revert', '--no-edit', 'HEAD');
    git(s.repo, 'push', '-q');
    git(s.tree, 'fetch', '-q');
    expect(await s.assess()).toMatchObject({ verdict: 'unpushed' });
    git(s.tree, 'reset', '-q', '--hard', 'origin/main');
    git(s.tree, 'commit', '-q', '--allow-empty', '-m', 'words');
    expect(await s.assess()).toMatchObject({ verdict: 'unpushed' });
  });

  test('a change of white space only is a change', async () => {
    using s = await session();
    write(s.tree, 'new', 'if x:\n  y\n');
    git(s.tree, 'add', 'new');
    git(s.tree, 'commit', '-qm', 'new');
    write(s.repo, 'new', 'if x:\ny\n');
    git(s.repo, 'add', 'new');
    git(s.repo, 'commit', '-qm', 'new');
    git(s.repo, 'push', '-q');
    git(s.tree, 'fetch', '-q');
    expect(await s.assess()).toMatchObject({ verdict: 'unpushed' });
  });

  test('several branches from several places, each by itself', async () => {
    using s = await session();
    commit(s.tree, 'one');
    commit(s.repo, 'other');
    git(s.repo, 'merge', '-q', '--squash', 's');
    git(s.repo, 'commit', '-qm', 'squashed');
    git(s.repo, 'push', '-q');
    git(s.tree, 'fetch', '-q');
    git(s.tree, 'checkout', '-q', '-b', 'second', 'origin/main');
    commit(s.tree, 'two');
    const { verdict, evidence } = await s.assess();
    expect(verdict).toBe('unpushed');
    expect(evidence?.branches.map(({ name, landed }) => [name, landed?.how])).toEqual([
      ['s', 'patch'],
      ['second', undefined],
    ]);
  });
});
