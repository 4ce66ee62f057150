import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type AssessOptions, assess, snapshotRefs } from '../../src/index.ts';
import { commit, type Ground, git, ground, QUIET, write } from './helpers.ts';

interface Instance extends Ground {
  tree: string;
  /** Another worktree, in the home of the session. */
  stray: string;
  options: AssessOptions;
}

async function instance(kind: 'worktree' | 'clone'): Promise<Instance> {
  const made = ground();
  const root = join(made.dir, 'data');
  const tree = join(root, 'git', kind, 'repo/w');
  const stray = join(root, 'home/wt');
  mkdirSync(join(root, 'home'), { recursive: true });
  if (kind === 'worktree') git(made.repo, 'worktree', 'add', '-q', '-b', 's', tree);
  else git(made.dir, 'clone', '-q', made.remote, tree);
  const options: AssessOptions = {
    base: git(tree, 'rev-parse', 'HEAD'),
    refsAtLaunch: await snapshotRefs(tree),
    expected: {
      kind,
      root,
      ...(kind === 'worktree' ? { commonDir: join(made.repo, '.git'), scratchBranch: 's' } : {}),
    },
    env: QUIET,
  };
  return { ...made, tree, stray, options };
}

test.each(['worktree', 'clone'] as const)(
  'another worktree in the home of the session is assessed like a repository inside: %s',
  async (kind) => {
    using i = await instance(kind);
    git(i.tree, 'worktree', 'add', '-q', '--detach', i.stray);
    const stray = { path: i.stray, kind: 'worktree', stray: true };
    expect(await assess(i.tree, i.options)).toMatchObject({
      verdict: 'clean',
      evidence: { nested: [{ ...stray, verdict: 'clean' }] },
    });
    write(i.stray, 'draft', 'x');
    const dirty = await assess(i.tree, i.options);
    expect(dirty).toMatchObject({
      verdict: 'dirty',
      reason: `dirty outside: ${i.stray} (1 file uncommitted)`,
      evidence: { nested: [{ ...stray, evidence: { files: [{ path: 'draft' }] } }] },
    });
    // What was agreed to is that content.
    write(i.stray, 'draft', 'more than before');
    expect((await assess(i.tree, i.options)).fingerprint).not.toBe(dirty.fingerprint);
    rmSync(join(i.stray, 'draft'));
    commit(i.stray, 'work');
    expect(await assess(i.tree, i.options)).toMatchObject({
      verdict: 'unpushed',
      evidence: { nested: [{ ...stray, verdict: 'unpushed', evidence: { head: { ahead: 1 } } }] },
    });
    git(i.stray, 'push', '-q', 'origin', 'HEAD:refs/heads/done');
    expect(await assess(i.tree, i.options)).toMatchObject({ verdict: 'clean' });
  },
);

test('one that cannot be looked at is a doubt', async () => {
  using i = await instance('worktree');
  git(i.tree, 'worktree', 'add', '-q', '--detach', i.stray);
  writeFileSync(join(i.stray, '.git'), `gitdir: ${i.dir}/elsewhere\n`);
  expect(await assess(i.tree, i.options)).toMatchObject({
    verdict: 'unknown',
    reason: expect.stringContaining(`a worktree of it lies outside of the tree: ${i.stray}`),
  });
});

test('one at a name only a container knows is a doubt for a clone, which it goes with', async () => {
  using i = await instance('clone');
  git(i.tree, 'worktree', 'add', '-q', '--detach', i.stray);
  rmSync(i.stray, { recursive: true });
  expect(await assess(i.tree, i.options)).toMatchObject({ verdict: 'clean' });
  writeFileSync(join(i.tree, '.git/worktrees/wt/gitdir'), '/home/agent/wt/.git\n');
  expect(await assess(i.tree, i.options)).toMatchObject({
    verdict: 'unknown',
    reason: expect.stringContaining('/home/agent/wt'),
  });
});

test('one of the operator elsewhere is none of the session', async () => {
  using i = await instance('worktree');
  const theirs = join(i.dir, 'theirs');
  git(i.repo, 'worktree', 'add', '-q', '--detach', theirs);
  write(theirs, 'draft', 'x');
  expect(await assess(i.tree, i.options)).toMatchObject({ verdict: 'clean', evidence: { nested: [] } });
});
