import { appendFileSync, existsSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessOptions, assess, assessRecord, snapshotRefs } from '../../src/index.ts';
import { commit, failingGit, git, ground, QUIET, session, write } from './helpers.ts';

const look = (path: string, options: AssessOptions = {}) => assess(path, { env: QUIET, ...options });

describe('repositories of every shape', () => {
  test('a shallow clone is assessed as far as its history goes', async () => {
    using g = ground();
    commit(g.repo, 'second');
    git(g.repo, 'push', '-q');
    const shallow = join(g.dir, 'shallow');
    git(g.dir, 'clone', '-q', '--depth', '1', `file://${g.remote}`, shallow);
    expect(await look(shallow)).toMatchObject({ verdict: 'clean', kind: 'repository' });
    commit(shallow, 'work');
    expect(await look(shallow)).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ ahead: 1 }] },
    });
  });

  test('a repository with SHA-256 ids', async () => {
    using g = ground();
    const [remote, repo] = [join(g.dir, 'r256.git'), join(g.dir, 'w256')];
    git(g.dir, 'init', '-q', '--bare', '--object-format=sha256', remote);
    git(g.dir, 'init', '-q', '--object-format=sha256', repo);
    git(repo, 'remote', 'add', 'origin', remote);
    commit(repo, 'a');
    expect(await look(repo)).toMatchObject({ verdict: 'unpushed' });
    git(repo, 'push', '-q', 'origin', 'main');
    expect(await look(repo)).toMatchObject({ verdict: 'clean' });
    git(repo, 'update-index', '--assume-unchanged', 'a');
    expect(await look(repo)).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(repo, 'a'), 'x');
    expect(await look(repo)).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ path: 'a', hidden: 'assume_unchanged' }] },
    });
  });

  test('a bare repository by its refs, and a .git by its tree', async () => {
    using g = ground();
    expect(await look(g.remote)).toMatchObject({
      verdict: 'unpushed',
      evidence: { files: [] },
      path: g.remote,
    });
    write(g.repo, 'new', '');
    expect(await look(join(g.repo, '.git'))).toMatchObject({ verdict: 'dirty', path: g.repo });
  });

  test('a repository before its first commit', async () => {
    using g = ground();
    const unborn = join(g.dir, 'unborn');
    git(g.dir, 'init', '-q', unborn);
    expect(await look(unborn)).toMatchObject({
      verdict: 'clean',
      evidence: { head: { commit: null, branch: 'main' } },
    });
    write(unborn, 'a', '');
    expect(await look(unborn)).toMatchObject({ verdict: 'dirty' });
    git(unborn, 'add', 'a');
    expect(await look(unborn)).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ status: 'A ', path: 'a' }] },
    });
  });

  test('a partial clone, without fetching what it lacks', async () => {
    using g = ground();
    git(g.remote, 'config', 'uploadpack.allowFilter', 'true');
    const partial = join(g.dir, 'partial');
    git(g.dir, 'clone', '-q', '--filter=blob:none', `file://${g.remote}`, partial);
    expect(await look(partial)).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(partial, 'a'), 'x');
    expect(await look(partial)).toMatchObject({ verdict: 'dirty' });
  });

  test('a sparse checkout, cone and index included', async () => {
    using g = ground();
    commit(g.repo, 'in/one');
    commit(g.repo, 'out/deep/two');
    git(g.repo, 'push', '-q');
    git(g.repo, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'in');
    expect(existsSync(join(g.repo, 'out'))).toBe(false);
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
    write(g.repo, 'out/deep/two', 'other\n');
    expect(await look(g.repo)).toMatchObject({
      verdict: 'dirty',
      evidence: { files: [{ status: ' M', path: 'out/deep/two' }] },
    });
  });

  test('a split index', async () => {
    using g = ground();
    git(g.repo, 'config', 'core.splitIndex', 'true');
    git(g.repo, 'update-index', '--split-index');
    git(g.repo, 'update-index', '--assume-unchanged', 'a');
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(g.repo, 'a'), 'x');
    expect(await look(g.repo)).toMatchObject({ verdict: 'dirty', evidence: { files: [{ path: 'a' }] } });
  });

  test.each([2, 3, 4])('an index of version %s', async (version) => {
    using g = ground();
    git(g.repo, 'update-index', '--index-version', `${version}`);
    if (version === 3) {
      write(g.repo, 'wanted', '');
      git(g.repo, 'add', '-N', 'wanted');
    }
    git(g.repo, 'update-index', '--assume-unchanged', 'b');
    rmSync(join(g.repo, 'b'));
    const { evidence } = await look(g.repo);
    expect(evidence?.files).toContainEqual({
      status: ' D',
      path: 'b',
      path_is_lossy: false,
      hidden: 'assume_unchanged',
    });
    expect(evidence?.files).toHaveLength(version === 3 ? 2 : 1);
  });

  test('names that are no text, of files and of directories', async () => {
    using g = ground();
    const odd = Buffer.concat([Buffer.from(`${g.repo}/`), Buffer.from([0xff, 0x0a])]);
    writeFileSync(odd, 'x');
    git(g.repo, 'add', '.');
    git(g.repo, 'commit', '-qm', 'odd');
    git(g.repo, 'push', '-q');
    expect(await look(g.repo)).toMatchObject({ verdict: 'clean' });
    git(g.repo, 'ls-files', '-z');
    writeFileSync(odd, 'other');
    const changed = await look(g.repo);
    expect(changed.evidence?.files).toEqual([
      { status: ' M', path: '\ufffd\n', path_is_lossy: true, path_base64: '/wo=' },
    ]);
  });

  test('a linked worktree and a submodule by their paths alone', async () => {
    using s = await session();
    expect(await look(s.tree)).toMatchObject({ verdict: 'clean', kind: 'worktree' });
    git(s.repo, 'submodule', '--quiet', 'add', s.remote, 'sub');
    expect(await look(join(s.repo, 'sub'))).toMatchObject({ verdict: 'clean', kind: 'submodule' });
  });

  test('a worktree whose files have the names of a container', async () => {
    using s = await session();
    writeFileSync(join(s.tree, '.git'), 'gitdir: /jackin/host/work/.git/worktrees/W\n');
    writeFileSync(join(s.repo, '.git/worktrees/W/gitdir'), '/work/.git\n');
    expect(await s.assess()).toMatchObject({ verdict: 'unknown' });
    const views = [
      { inside: '/work', host: s.tree },
      { inside: '/jackin/host/work/.git', host: join(s.repo, '.git') },
    ];
    expect(await s.assess({ views })).toMatchObject({ verdict: 'clean', kind: 'worktree' });
  });
});

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

describe('the scale of a repository', () => {
  test('does not change how many processes look at it', async () => {
    using s = await session();
    const one = await s.assess({ refsAtLaunch: null });
    const head = git(s.tree, 'rev-parse', 'HEAD');
    for (let n = 0; n < 1_000; n += 1) write(s.repo, `.git/refs/heads/b${n}`, `${head}\n`);
    const many = await s.assess({ refsAtLaunch: null });
    expect(many).toMatchObject({ verdict: 'clean' });
    expect(many.git_processes).toBe(one.git_processes);
    const id = commit(s.tree, 'work');
    for (let n = 0; n < 1_000; n += 1) write(s.repo, `.git/refs/heads/b${n}`, `${id}\n`);
    const ahead = await look(s.repo);
    expect(ahead.evidence?.branches).toHaveLength(1_001);
    expect(ahead.git_processes).toBeLessThanOrEqual(8);
  });
});

describe('a record', () => {
  test('says what its tree is measured by', async () => {
    using s = await session();
    const record = {
      workspace: 'w',
      mount_dst: '/w',
      original_src: s.repo,
      isolation: 'worktree' as const,
      worktree_path: s.tree,
      scratch_branch: 's',
      base_commit: s.base,
      selector_key: 'k',
      container_name: 'c',
      cleanup_status: 'active' as const,
      refs_at_launch: await snapshotRefs(s.tree),
      git_common_dir: join(s.repo, '.git'),
    };
    expect(await assessRecord(record, { env: QUIET })).toMatchObject({ verdict: 'clean', kind: 'worktree' });
    expect(await assessRecord({ ...record, git_common_dir: s.remote }, { env: QUIET })).toMatchObject({
      verdict: 'unknown',
    });
    expect(await assessRecord({ ...record, isolation: 'clone' }, { env: QUIET })).toMatchObject({
      verdict: 'unknown',
    });
    renameSync(s.tree, `${s.tree}-away`);
    expect(await assessRecord(record, { env: QUIET })).toMatchObject({
      verdict: 'unknown',
      reason: 'the tree is missing',
    });
  });

  test('refs that cannot be read are an error of the snapshot', async () => {
    using g = ground();
    writeFileSync(join(g.repo, '.git/refs/heads/main'), '');
    await expect(snapshotRefs(g.repo)).rejects.toMatchObject({ code: 'REFS_NOT_READABLE' });
  });
});
