import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { assess, snapshotRefs } from '../../src/index.ts';
import { commit, failingGit, git, ground, QUIET, session, write } from './helpers.ts';

/** A commit no branch of the repository has any more; answers its id. */
function forgotten(tree: string): string {
  const id = commit(tree, 'work');
  git(tree, 'reset', '-q', '--hard', 'HEAD~1');
  return id;
}

describe('a ref beside refs/', () => {
  test.each(['MY_WORK', 'SAVED_HEAD', 'my_work', 'WORK2', 'saved/work'])(
    'has commits of its own in a clone: %s',
    async (name) => {
      using g = ground();
      const id = forgotten(g.repo);
      expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean', git_processes: 3 });
      git(g.repo, 'update-ref', name, id);
      expect(await assess(g.repo, { env: QUIET })).toMatchObject({
        verdict: 'unpushed',
        reason: '1 other ref unpushed',
        evidence: { branches: [{ name, commit: id, ahead: 1, outside_refs: true }] },
        git_processes: 6,
      });
      git(g.repo, 'push', '-q', 'origin', `${id}:refs/heads/done`);
      expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
    },
  );

  test.each(['MY_WORK', 'SAVED_HEAD', 'my_work'])(
    'has commits of its own in a worktree: %s',
    async (name) => {
      using s = await session();
      const id = forgotten(s.tree);
      expect(await s.assess()).toMatchObject({ verdict: 'clean' });
      git(s.tree, 'update-ref', name, id);
      expect(await s.assess()).toMatchObject({
        verdict: 'unpushed',
        evidence: { branches: [{ name, commit: id, ahead: 1 }] },
      });
    },
  );

  test('of the operator, or of another worktree, is none of a worktree', async () => {
    using s = await session();
    git(s.repo, 'update-ref', 'MY_WORK', forgotten(s.repo));
    const other = join(s.dir, 'other');
    git(s.repo, 'worktree', 'add', '-q', '--detach', other);
    const id = forgotten(other);
    git(other, 'update-ref', 'MINE', id);
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    const { evidence } = await assess(s.repo, { env: QUIET });
    expect(evidence?.branches.map(({ name }) => name)).toEqual(['MY_WORK', 'worktrees/other/MINE']);
  });

  test('that is symbolic is one, too, and one that leads nowhere is none', async () => {
    using s = await session();
    const work = commit(s.repo, 'work');
    git(s.repo, 'branch', 'feature');
    git(s.tree, 'symbolic-ref', 'NOWHERE', 'refs/heads/missing');
    expect(await s.assess()).toMatchObject({ verdict: 'clean' });
    git(s.tree, 'symbolic-ref', 'MINE', 'refs/heads/feature');
    expect((await s.assess()).evidence?.branches).toMatchObject([{ name: 'MINE', commit: work, ahead: 1 }]);
  });

  test.each([
    'ORIG_HEAD',
    'FETCH_HEAD',
    'REBASE_HEAD',
    'BISECT_HEAD',
    'AUTO_MERGE',
    'BISECT_EXPECTED_REV',
    'COMMIT_EDITMSG',
    'shallow.lock',
  ])('that git keeps for itself gates nothing: %s', async (name) => {
    using g = ground();
    const id = forgotten(g.repo);
    write(g.repo, `.git/${name}`, `${id}\n`);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
  });

  test('is none where the file holds something else', async () => {
    using g = ground();
    const id = forgotten(g.repo);
    write(g.repo, '.git/NOTES', `see ${id}\n`);
    write(g.repo, '.git/LARGE', `${id}\n`.repeat(10_000));
    write(g.repo, '.git/EMPTY', '');
    write(g.repo, '.git/lost-found/commit/x', `${id}\n`);
    mkdirSync(join(g.repo, '.git/EMPTY_DIRECTORY'));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
  });

  test('that is a link is followed only as git wrote such refs once', async () => {
    using g = ground();
    const id = forgotten(g.repo);
    symlinkSync('refs/heads/main', join(g.repo, '.git/OLD_WAY'));
    writeFileSync(join(g.dir, 'outside'), `${id}\n`);
    symlinkSync(join(g.dir, 'outside'), join(g.repo, '.git/LINKED'));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
    git(g.repo, 'update-ref', 'refs/heads/feature', id);
    symlinkSync('refs/heads/feature', join(g.repo, '.git/OLD_NAME'));
    const { evidence } = await assess(g.repo, { env: QUIET });
    expect(evidence?.branches.map(({ name }) => name)).toEqual(['OLD_NAME', 'feature']);
  });

  test('is what a squash merge stashed before it began, and any other name that only looks like one of git', async () => {
    using g = ground();
    const id = forgotten(g.repo);
    git(g.repo, 'switch', '-q', '-c', 'topic');
    commit(g.repo, 'a', 'theirs\n');
    git(g.repo, 'push', '-q', 'origin', 'topic');
    git(g.repo, 'switch', '-q', 'main');
    commit(g.repo, 'a', 'ours\n');
    git(g.repo, 'push', '-q', 'origin', 'main');
    write(g.repo, 'b', 'precious\n');
    failingGit(g.repo, 'merge', '-q', '--squash', '--autostash', 'topic');
    git(g.repo, 'restore', '--staged', '--worktree', '.');
    expect(git(g.repo, 'status', '--porcelain')).toBe('');
    const { verdict, evidence } = await assess(g.repo, { env: QUIET });
    expect([verdict, evidence?.branches.map(({ name }) => name)]).toEqual(['unpushed', ['MERGE_AUTOSTASH']]);
    git(g.repo, 'update-ref', 'MERGE_BACKUP', id);
    const names = (await assess(g.repo, { env: QUIET })).evidence?.branches.map(({ name }) => name);
    expect(names).toEqual(['MERGE_AUTOSTASH', 'MERGE_BACKUP']);
  });

  test.each([
    ['no object', 'a'.repeat(40)],
    ['a sum of another kind', 'b'.repeat(64)],
  ])('is none where the file has the form of one: %s', async (_what, id) => {
    using g = ground();
    write(g.repo, '.git/cache-key', `${id}\n`);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
  });

  test('is not looked for too far, which keeps no session from starting', async () => {
    using g = ground();
    write(g.repo, `.git/cache/${'d/'.repeat(12)}x`, 'x');
    expect(Object.keys(await snapshotRefs(g.repo))).toEqual(['refs/heads/main']);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unknown' });
  });

  test('that was there at launch, and has not moved, is no work of the session', async () => {
    using g = ground();
    git(g.repo, 'update-ref', 'MY_WORK', forgotten(g.repo));
    const refsAtLaunch = await snapshotRefs(g.repo);
    expect(Object.keys(refsAtLaunch)).toContain('MY_WORK');
    expect(await assess(g.repo, { env: QUIET, refsAtLaunch })).toMatchObject({ verdict: 'clean' });
  });

  test('in a repository inside, or in the git directory of a submodule, counts as well', async () => {
    using s = await session();
    const inner = join(s.tree, 'scratch/n');
    git(s.dir, 'clone', '-q', s.remote, inner);
    git(inner, 'update-ref', 'MY_WORK', forgotten(inner));
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { nested: [{ path: 'scratch/n', evidence: { branches: [{ name: 'MY_WORK' }] } }] },
    });
  });
});

test.each(['worktree/mine', 'bisect/mine', 'rewritten/mine'])(
  'a commit only refs/%s in the git directory of a worktree has is not elsewhere',
  async (name) => {
    using s = await session();
    const id = forgotten(s.tree);
    git(s.tree, 'update-ref', `refs/${name}`, id);
    expect(await s.assess()).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: `refs/${name}`, commit: id, ahead: 1 }] },
    });
  },
);
