import { appendFileSync, chmodSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { snapshotRefs } from '../../src/index.ts';
import { commit, failingGit, git, session, write } from './helpers.ts';

describe('what a tree holds', () => {
  test('files the index was told not to look at', async () => {
    using s = await session();
    git(s.tree, 'update-index', '--skip-worktree', 'a');
    git(s.tree, 'update-index', '--assume-unchanged', 'b');
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(s.tree, 'a'), 'x\n');
    appendFileSync(join(s.tree, 'b'), 'x\n');
    expect((await s.assess()).evidence?.files).toEqual([
      { status: ' M', path: 'a', path_is_lossy: false, hidden: 'skip_worktree' },
      { status: ' M', path: 'b', path_is_lossy: false, hidden: 'assume_unchanged' },
    ]);
  });

  test('an edit as long as before, in the second in which the index was written', async () => {
    using s = await session();
    const file = join(s.tree, 'a');
    const { mtime } = statSync(file);
    git(s.tree, 'add', 'a');
    writeFileSync(file, 'A1\na2\na3\na4\na5\na6\na7\na8\n');
    utimesSync(file, mtime, mtime);
    expect(await s.assess()).toMatchObject({ verdict: 'dirty', evidence: { files: [{ path: 'a' }] } });
  });

  test('an edit that leaves size and times as git notes them: it compares whole seconds', async () => {
    using s = await session();
    const file = join(s.tree, 'kept-time');
    const [one, other] = ['one\n', 'two\n'];
    const old = new Date('2020-01-01T00:00:00Z');
    const put = (content: string) => {
      writeFileSync(file, content);
      utimesSync(file, old, old);
      return Math.floor(statSync(file).ctimeMs / 1000);
    };
    // All of it has to happen within one second.
    for (let before = 0, after = 1; before !== after; ) {
      before = put(one);
      git(s.tree, 'add', 'kept-time');
      after = put(other);
    }
    git(s.tree, 'commit', '-qm', 'one');
    git(s.tree, 'push', '-q', 'origin', 'HEAD:refs/heads/done');
    expect(git(s.tree, 'status', '--porcelain')).toBe('');
    expect(await s.assess()).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ status: ' M', path: 'kept-time', hidden: 'file_times' }] },
    });
    writeFileSync(file, one);
    utimesSync(file, old, old);
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
  });

  test.each([
    ['its mode was changed', (file: string) => chmodSync(file, 0o600)],
    ['git keeps its index in parts', (_: string, tree: string) => git(tree, 'update-index', '--split-index')],
  ])('no edit of line ends that are as they are committed, though %s', async (_what, change) => {
    using s = await session();
    const file = join(s.tree, 'crlf');
    const old = new Date('2020-01-01T00:00:00Z');
    writeFileSync(file, 'one\r\ntwo\r\n');
    utimesSync(file, old, old);
    git(s.tree, 'add', 'crlf');
    writeFileSync(join(s.tree, '.gitattributes'), '* text=auto\n');
    git(s.tree, 'add', '.gitattributes');
    git(s.tree, 'commit', '-qm', 'crlf');
    git(s.tree, 'push', '-q', 'origin', 'HEAD:refs/heads/done');
    change(file, s.tree);
    expect(git(s.tree, 'status', '--porcelain')).toBe('');
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
  });

  test.each([
    ['rebase', (tree: string) => failingGit(tree, 'rebase', 'main')],
    ['merge', (tree: string) => failingGit(tree, 'merge', 'main')],
    ['cherry-pick', (tree: string) => failingGit(tree, 'cherry-pick', 'main')],
    ['revert', (tree: string) => failingGit(tree, 'revert', '--no-edit', 'HEAD~1')],
    ['bisect', (tree: string) => git(tree, 'bisect', 'start')],
  ] as const)('an operation in progress: %s', async (operation, start) => {
    using s = await session();
    write(s.tree, 'a', 'one\n');
    git(s.tree, 'commit', '-qam', 'one');
    write(s.tree, 'a', 'two\n');
    git(s.tree, 'commit', '-qam', 'two');
    write(s.repo, 'a', 'three\n');
    git(s.repo, 'commit', '-qam', 'three');
    start(s.tree);
    expect(await s.assess()).toMatchObject({ verdict: 'dirty', evidence: { in_progress: [operation] } });
  });

  test('a new stash entry, and not those that were there at launch', async () => {
    using s = await session();
    appendFileSync(join(s.repo, 'a'), 'x\n');
    git(s.repo, 'stash', '-q');
    const refsAtLaunch = await snapshotRefs(s.tree);
    expect(Object.keys(refsAtLaunch)).toEqual(['refs/heads/main', 'refs/heads/s', 'stash@{0}']);
    expect(await s.assess({ refsAtLaunch })).toMatchObject({ verdict: 'clean' });
    // The operator's own, made meanwhile on a branch this tree never was on.
    appendFileSync(join(s.repo, 'b'), 'x\n');
    git(s.repo, 'stash', '-q');
    expect(await s.assess({ refsAtLaunch })).toMatchObject({ verdict: 'clean', evidence: { stashes: [] } });
    appendFileSync(join(s.tree, 'c'), 'x\n');
    git(s.tree, 'stash', '-q');
    expect(await s.assess({ refsAtLaunch })).toMatchObject({
      verdict: 'unpushed',
      reason: '1 stash entry',
      evidence: { stashes: [{ message: expect.stringMatching(/^WIP on s:/) }] },
    });
  });

  test('branches and tags of its own, and not those of the operator', async () => {
    using s = await session();
    commit(s.repo, 'operator');
    git(s.repo, 'branch', 'feature');
    git(s.repo, 'tag', '-a', 'theirs', '-m', 'x');
    expect(await s.assess()).toMatchObject({ verdict: 'clean', evidence: { branches: [] } });
    commit(s.tree, 'one');
    git(s.tree, 'tag', '-a', 'annotated', '-m', 'x');
    git(s.tree, 'tag', 'light');
    git(s.tree, 'branch', 'kept');
    git(s.tree, 'reset', '-q', '--hard', 'HEAD~1');
    const { verdict, evidence } = await s.assess();
    expect(verdict).toBe('unpushed');
    expect(evidence?.branches.map(({ name, ahead }) => [name, ahead])).toEqual([
      ['kept', 1],
      ['refs/tags/annotated', 1],
      ['refs/tags/light', 1],
    ]);
  });

  test('a branch that was there at launch counts once it moved, by what is new', async () => {
    using s = await session();
    git(s.repo, 'branch', 'old');
    git(s.repo, 'checkout', '-q', 'old');
    commit(s.repo, 'before');
    git(s.repo, 'checkout', '-q', 'main');
    const refsAtLaunch = await snapshotRefs(s.tree);
    expect(await s.assess({ refsAtLaunch })).toMatchObject({ verdict: 'clean' });
    git(s.tree, 'checkout', '-q', 'old');
    expect(await s.assess({ refsAtLaunch })).toMatchObject({ verdict: 'clean' });
    commit(s.tree, 'after');
    expect((await s.assess({ refsAtLaunch })).evidence?.branches).toMatchObject([{ name: 'old', ahead: 1 }]);
  });

  test('what was at launch and is gone from the repository since is no obstacle', async () => {
    using s = await session();
    const refsAtLaunch = { ...(await snapshotRefs(s.tree)), 'refs/heads/gone': '1'.repeat(40) };
    expect(await s.assess({ refsAtLaunch })).toMatchObject({ verdict: 'clean' });
    commit(s.tree, 'work');
    expect(await s.assess({ refsAtLaunch })).toMatchObject({ verdict: 'unpushed' });
    expect(await s.assess({ base: '1'.repeat(40) })).toMatchObject({ verdict: 'unknown' });
  });
});

describe('what was pushed', () => {
  test('a push to a remote inside of the tree proves nothing', async () => {
    using s = await session();
    commit(s.tree, 'work');
    git(s.dir, 'clone', '-q', '--bare', s.remote, join(s.tree, 'scratch/inside.git'));
    git(s.tree, 'remote', 'add', 'inside', join(s.tree, 'scratch/inside.git'));
    git(s.tree, 'push', '-q', 'inside', 's');
    const pushed = await s.assess();
    expect(pushed.evidence?.branches).toMatchObject([{ name: 's', ahead: 1 }]);
    git(s.tree, 'push', '-q', 'origin', 's');
    expect((await s.assess()).evidence?.branches).toEqual([]);
  });

  test('a remote-tracking ref nobody configured a remote for proves nothing', async () => {
    using s = await session();
    const id = commit(s.tree, 'work');
    git(s.tree, 'update-ref', 'refs/remotes/nobody/s', id);
    expect(await s.assess()).toMatchObject({ verdict: 'unpushed' });
    git(s.tree, 'remote', 'add', 'nobody', '/nowhere/on/this/machine');
    expect(await s.assess()).toMatchObject({ verdict: 'unpushed' });
    git(s.tree, 'remote', 'set-url', 'nobody', 'https://example.org/r.git');
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
  });
});
