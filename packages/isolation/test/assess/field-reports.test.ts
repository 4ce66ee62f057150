import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { assess } from '../../src/index.ts';
import { commit, git, QUIET, session, write } from './helpers.ts';

const asRoot = process.getuid?.() === 0;

describe('field reports on assessment', () => {
  test('O01: work committed by an earlier run counts, since the base is the one of the launch', async () => {
    using s = await session();
    commit(s.tree, 'work');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      reason: '1 branch unpushed',
      evidence: { branches: [{ name: 's', ahead: 1, upstream: null }] },
    });
  });

  test('O02: an ignored file is listed by name and gates nothing', async () => {
    using s = await session();
    write(s.tree, '.env', 'SECRET=1\n');
    write(s.tree, 'node_modules/x/index.js', '1');
    write(s.tree, 'dist/bundle.js', '1');
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      evidence: {
        ignored: {
          count: 1,
          bytes: 9,
          largest: { path: '.env', bytes: 9 },
          files: [{ path: '.env' }],
          directories: [{ path: 'dist' }, { path: 'node_modules' }],
        },
      },
    });
  });

  test('O03: an edit in a submodule is dirty, and a commit that is only there unpushed', async () => {
    using s = await session();
    const library = join(s.dir, 'library.git');
    git(s.dir, 'clone', '-q', '--bare', s.remote, library);
    git(s.tree, 'submodule', '--quiet', 'add', library, 'sub');
    git(s.tree, 'commit', '-qm', 'submodule');
    git(s.tree, 'push', '-q', '-u', 'origin', 's');
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      evidence: { nested: [{ kind: 'submodule', verdict: 'clean' }] },
    });
    appendFileSync(join(s.tree, 'sub/a'), 'x\n');
    expect(await s.assess()).toMatchObject({
      verdict: 'dirty',
      reason: 'dirty inside: sub (1 file uncommitted)',
      evidence: { nested: [{ path: 'sub', evidence: { files: [{ status: ' M', path: 'a' }] } }] },
    });
    commit(join(s.tree, 'sub'), 'a');
    git(s.tree, 'commit', '-qam', 'bump');
    git(s.tree, 'push', '-q');
    const bumped = await s.assess();
    expect(bumped).toMatchObject({ verdict: 'unpushed', evidence: { files: [], branches: [] } });
    expect(bumped.evidence?.nested).toMatchObject([
      { path: 'sub', verdict: 'unpushed', evidence: { branches: [{ ahead: 1 }] } },
    ]);
  });

  test('O04: no configuration of the repository hides an entry', async () => {
    using s = await session();
    git(s.tree, 'config', 'status.showUntrackedFiles', 'no');
    git(s.tree, 'config', 'core.excludesFile', join(s.dir, 'all'));
    writeFileSync(join(s.dir, 'all'), '*\n');
    write(s.tree, 'new', 'x\n');
    expect(await s.assess()).toMatchObject({
      verdict: 'dirty',
      reason: '1 file uncommitted',
      evidence: { files: [{ status: '??', path: 'new' }] },
    });
    rmSync(join(s.tree, 'new'));
    git(s.tree, 'config', '--unset', 'core.excludesFile');
    git(s.tree, 'submodule', '--quiet', 'add', s.remote, 'sub');
    git(s.tree, 'config', '-f', '.gitmodules', 'submodule.sub.ignore', 'all');
    git(s.tree, 'config', 'submodule.sub.ignore', 'all');
    git(s.tree, 'add', '.gitmodules');
    git(s.tree, 'commit', '-qm', 'submodule');
    git(s.tree, 'push', '-q', 'origin', 's');
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    appendFileSync(join(s.tree, 'sub/a'), 'x\n');
    expect(await s.assess()).toMatchObject({ verdict: 'dirty' });
  });

  test('O05: a commit of a detached HEAD that is on no ref is unpushed, and no hook runs', async () => {
    using s = await session();
    git(s.tree, 'checkout', '-q', '--detach');
    const marker = join(s.dir, 'ran');
    write(s.repo, '.git/hooks/pre-commit', `#!/bin/sh\ntouch '${marker}'\nexit 1\n`);
    chmodSync(join(s.repo, '.git/hooks/pre-commit'), 0o755);
    git(s.tree, 'commit', '-q', '--no-verify', '--allow-empty', '-m', 'work');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      reason: '1 commit on a detached HEAD',
      evidence: { head: { branch: null, ahead: 1 } },
    });
    expect(existsSync(marker)).toBe(false);
  });

  test('O06: the commits ahead decide the verdict, also without any branch', async () => {
    using s = await session();
    git(s.tree, 'checkout', '-q', '--detach');
    commit(s.tree, 'one');
    commit(s.tree, 'two');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { head: { ahead: 2 }, branches: [] },
    });
  });

  test('O07: HEAD and branch that disagree after an amend are both listed', async () => {
    using s = await session();
    const onBranch = commit(s.tree, 'work');
    git(s.tree, 'checkout', '-q', '--detach');
    git(s.tree, 'commit', '-q', '--amend', '-m', 'amended');
    const amended = git(s.tree, 'rev-parse', 'HEAD');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: {
        head: { commit: amended, branch: null, ahead: 1, differs_from: { branch: 's', commit: onBranch } },
        branches: [{ name: 's', commit: onBranch, ahead: 1 }],
      },
    });
  });

  test('O08: what was squashed onto the remote landed, although its branch is gone there', async () => {
    using s = await session();
    commit(s.tree, 'one');
    commit(s.tree, 'two');
    git(s.tree, 'push', '-q', '-u', 'origin', 's');
    commit(s.repo, 'other');
    git(s.repo, 'merge', '-q', '--squash', 's');
    git(s.repo, 'commit', '-qm', 'squashed');
    git(s.repo, 'push', '-q', 'origin', 'main', ':s');
    git(s.tree, 'fetch', '-qp');
    const squashed = git(s.repo, 'rev-parse', 'HEAD');
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      reason: `nothing uncommitted, and all of it landed: ${squashed.slice(0, 12)}`,
      evidence: {
        branches: [
          {
            name: 's',
            ahead: 2,
            upstream: 'origin/s',
            upstream_gone: true,
            landed: { how: 'patch', commit: squashed },
          },
        ],
      },
    });
  });

  test('O09: an upstream that is gone is no proof: one more commit after the merge is unpushed', async () => {
    using s = await session();
    commit(s.tree, 'one');
    git(s.tree, 'push', '-q', '-u', 'origin', 's');
    git(s.repo, 'merge', '-q', '--squash', 's');
    git(s.repo, 'commit', '-qm', 'squashed');
    git(s.repo, 'push', '-q', 'origin', 'main', ':s');
    git(s.tree, 'fetch', '-qp');
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      evidence: { branches: [{ landed: { how: 'tree' } }] },
    });
    commit(s.tree, 'two');
    const after = await s.assess();
    expect(after).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: 's', ahead: 2, upstream_gone: true }] },
    });
    expect(after.evidence?.branches[0]?.landed).toBeUndefined();
  });

  test('O10: names are bytes from end to end', async () => {
    using s = await session();
    write(s.tree, 'ä b.txt', '1');
    write(s.tree, 'x\ny', '1');
    writeFileSync(Buffer.concat([Buffer.from(`${s.tree}/`), Buffer.from([0xff])]), '1');
    git(s.tree, 'mv', 'a', 'b -> c');
    const { verdict, evidence } = await s.assess();
    expect(verdict).toBe('dirty');
    expect(evidence?.files).toEqual([
      { status: 'R ', path: 'b -> c', path_is_lossy: false, orig_path: 'a' },
      { status: '??', path: 'x\ny', path_is_lossy: false },
      { status: '??', path: 'ä b.txt', path_is_lossy: false },
      { status: '??', path: '\ufffd', path_is_lossy: true, path_base64: '/w==' },
    ]);
  });

  test('O11: a repository recorded as a gitlink nobody declared is not clean', async () => {
    using s = await session();
    git(s.dir, 'init', '-q', join(s.tree, 'app'));
    commit(join(s.tree, 'app'), 'file');
    git(s.tree, 'add', 'app');
    git(s.tree, 'commit', '-qm', 'app');
    git(s.tree, 'push', '-q', 'origin', 's');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      reason: 'unpushed inside: app (1 branch unpushed)',
      evidence: { branches: [], nested: [{ path: 'app', kind: 'gitlink', verdict: 'unpushed' }] },
    });
  });

  test('O12: a clone in an ignored directory is assessed over all of its refs and its stash', async () => {
    using s = await session();
    const inner = join(s.tree, 'scratch/n');
    git(s.dir, 'clone', '-q', s.remote, inner);
    expect(await s.assess()).toMatchObject({
      verdict: 'clean',
      evidence: { nested: [{ verdict: 'clean' }] },
    });
    git(inner, 'checkout', '-q', '-b', 'other');
    commit(inner, 'work');
    git(inner, 'checkout', '-q', 'main');
    appendFileSync(join(inner, 'a'), 'x\n');
    git(inner, 'stash', '-q');
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: {
        nested: [
          {
            path: 'scratch/n',
            kind: 'repository',
            verdict: 'unpushed',
            reason: '1 branch unpushed, 1 stash entry',
            evidence: {
              branches: [{ name: 'other', ahead: 1 }],
              stashes: [{ message: expect.stringContaining('WIP on main') }],
            },
          },
        ],
      },
    });
  });

  test('O13: a .git nobody may read is unknown, with the reason', async () => {
    using s = await session();
    chmodSync(s.dir, 0o755);
    chmodSync(join(s.tree, '.git'), 0);
    // The user root may read everything.
    if (asRoot) process.seteuid?.(65_534);
    const result = await s.assess().finally(() => asRoot && process.seteuid?.(0));
    expect(result).toMatchObject({ verdict: 'unknown', evidence: null });
    expect(result.reason).toMatch(/cannot be read \(EACCES\)/);
  });

  test('O14: files of which only the mode differs are a class of their own', async () => {
    using s = await session();
    for (const name of ['a', 'b', 'c']) chmodSync(join(s.tree, name), 0o755);
    appendFileSync(join(s.tree, 'b'), 'x\n');
    const noisy = await s.assess();
    expect(noisy).toMatchObject({ verdict: 'dirty', reason: '1 file uncommitted, 2 mode-only changes' });
    expect(noisy.evidence?.files.map(({ path, mode_only }) => [path, mode_only === true])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ]);
    git(s.tree, 'config', 'core.fileMode', 'false');
    expect((await s.assess()).evidence?.files).toEqual([{ status: ' M', path: 'b', path_is_lossy: false }]);
  });

  test('O15: both names of a rename are there, as they are on disk', async () => {
    using s = await session();
    commit(s.tree, 'café.md');
    git(s.tree, 'mv', 'a', 'my notes.md');
    appendFileSync(join(s.tree, 'café.md'), 'x\n');
    const files = (await s.assess()).evidence?.files ?? [];
    expect(files.map(({ path, orig_path }) => [path, orig_path])).toEqual([
      ['café.md', undefined],
      ['my notes.md', 'a'],
    ]);
    expect(files.every(({ path }) => existsSync(join(s.tree, path)))).toBe(true);
  });

  test('O19: a tree without its .git is unknown, although it lies inside of another repository', async () => {
    using s = await session();
    const inside = join(s.repo, 'scratch/W');
    git(s.repo, 'worktree', 'add', '-q', '-b', 'inner', inside);
    const expected = { kind: 'worktree', commonDir: join(s.repo, '.git') } as const;
    expect(await assess(inside, { env: QUIET, expected })).toMatchObject({ verdict: 'clean' });
    rmSync(join(inside, '.git'));
    write(inside, 'work', 'x');
    expect(await assess(inside, { env: QUIET, expected })).toMatchObject({
      verdict: 'unknown',
      reason: 'there is no .git in the tree',
    });
    expect(await assess(inside, { env: QUIET })).toMatchObject({ verdict: 'unknown' });
    renameSync(inside, `${inside}-away`);
    expect(await assess(inside, { env: QUIET, expected })).toMatchObject({
      verdict: 'unknown',
      reason: 'the tree is missing',
    });
  });

  test('O29: a tree of another user is assessed right', async () => {
    using s = await session();
    // Whoever is not root can only pretend.
    if (asRoot) {
      for (const name of ['', ...readdirSync(s.tree)]) lchownSync(join(s.tree, name), 1000, 1000);
      chownSync(join(s.repo, '.git'), 1000, 1000);
    }
    const env = { ...QUIET, GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    expect(await s.assess({ env })).toMatchObject({ verdict: 'clean' });
    write(s.tree, 'work', 'x');
    expect(await s.assess({ env })).toMatchObject({ verdict: 'dirty' });
  });

  test('O30: a lock somebody left is reported with its age, and hinders nothing', async () => {
    using s = await session();
    const lock = join(s.repo, '.git/worktrees/W/index.lock');
    writeFileSync(lock, '');
    const locked = await s.assess();
    expect(locked).toMatchObject({
      verdict: 'clean',
      evidence: { index_lock: { age_ms: expect.any(Number) } },
    });
    expect(existsSync(lock)).toBe(true);
    expect((await s.assess()).fingerprint).toBe(locked.fingerprint);
    rmSync(lock);
    expect((await s.assess()).fingerprint).not.toBe(locked.fingerprint);
  });
});
