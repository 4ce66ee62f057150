import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { assess } from '../../src/index.ts';
import { commit, type Ground, git, ground, QUIET, session, write } from './helpers.ts';

/** The operator's clone with one commit it has pushed to a remote that was made by `options`. */
function pushed(g: Ground, options: readonly string[]): string {
  const other = join(g.dir, 'other.git');
  git(g.dir, 'clone', '-q', '--bare', ...options, g.repo, other);
  git(g.repo, 'remote', 'add', 'other', other);
  commit(g.repo, 'work');
  git(g.repo, 'push', '-q', 'other', 'main');
  return other;
}

describe('a remote on this machine', () => {
  test('that has its own objects holds what was pushed to it', async () => {
    using g = ground();
    pushed(g, []);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
  });

  test.each(['path', 'file://'])('that borrows the objects of the tree holds nothing: %s', async (form) => {
    using g = ground();
    const other = pushed(g, ['--shared']);
    if (form === 'file://') git(g.repo, 'remote', 'set-url', 'other', `file://${other}`);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: 'main', ahead: 1 }, { name: 'refs/remotes/other/main' }] },
    });
  });

  test('that borrows through another one holds nothing', async () => {
    using g = ground();
    const other = pushed(g, ['--shared']);
    const second = join(g.dir, 'second.git');
    git(g.dir, 'clone', '-q', '--bare', '--shared', other, second);
    git(g.repo, 'remote', 'add', 'second', second);
    git(g.repo, 'fetch', '-q', 'second', '+refs/heads/*:refs/remotes/second/*');
    git(g.repo, 'remote', 'remove', 'other');
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unpushed' });
  });

  test.each([
    ['relative', (repo: string) => `# of the tree\n../../${repo.split('/').at(-1)}/.git/objects\n`],
    ['quoted', (repo: string) => `"${repo}/.git/\\157bjects"\n`],
    ['not the first', (repo: string) => `/nowhere\n${repo}/.git/objects\n`],
  ])('is looked through however the place is written: %s', async (_how, text) => {
    using g = ground();
    const other = pushed(g, []);
    writeFileSync(join(other, 'objects/info/alternates'), text(g.repo));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unpushed' });
  });

  test('that borrows by links, in its list or in its objects, holds nothing', async () => {
    using g = ground();
    const other = pushed(g, []);
    writeFileSync(join(g.dir, 'list'), `${g.repo}/.git/objects\n`);
    symlinkSync(join(g.dir, 'list'), join(other, 'objects/info/alternates'));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unpushed' });
    rmSync(join(other, 'objects/info/alternates'));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
    rmSync(join(other, 'objects/pack'), { recursive: true });
    symlinkSync(join(g.repo, '.git/objects/pack'), join(other, 'objects/pack'));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unpushed' });
  });

  test('that has its objects and refs in another repository is none', async () => {
    using g = ground();
    const other = pushed(g, []);
    writeFileSync(join(other, 'commondir'), `${g.repo}/.git\n`);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unpushed' });
  });

  test('that borrows by the name the tree has in a container holds nothing', async () => {
    using g = ground();
    const other = pushed(g, []);
    writeFileSync(join(other, 'objects/info/alternates'), '/inside/.git/objects\n');
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
    const views = [{ inside: '/inside', host: g.repo }];
    expect(await assess(g.repo, { env: QUIET, views })).toMatchObject({ verdict: 'unpushed' });
  });

  test('that borrows from somewhere else holds what it has', async () => {
    using g = ground();
    const other = pushed(g, ['--reference', g.remote]);
    expect(git(other, 'config', '--get', 'core.bare')).toBe('true');
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
    // In a ring, too.
    writeFileSync(join(g.remote, 'objects/info/alternates'), `${other}/objects\n`);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
  });

  test('whose list is a pipe is not waited for', async () => {
    using g = ground();
    const other = pushed(g, []);
    execFileSync('mkfifo', [join(other, 'objects/info/alternates')]);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'clean' });
  });

  test('that borrows from the repository of a worktree holds nothing of the worktree', async () => {
    using s = await session();
    commit(s.tree, 'work');
    const other = join(s.dir, 'other.git');
    git(s.dir, 'clone', '-q', '--bare', '--shared', s.repo, other);
    git(s.tree, 'remote', 'add', 'other', other);
    git(s.tree, 'push', '-q', 'other', 's');
    git(s.tree, 'fetch', '-q', 'other');
    expect((await s.assess()).evidence?.branches).toMatchObject([{ name: 's', ahead: 1 }]);
  });

  test('in the directory of the instance goes with the session', async () => {
    using g = ground();
    const root = join(g.dir, 'data');
    const tree = join(root, 'git/clone/repo/w');
    mkdirSync(join(root, 'git/clone/repo'), { recursive: true });
    renameSync(g.repo, tree);
    write(root, 'home/x', '');
    git(g.dir, 'clone', '-q', '--bare', g.remote, join(root, 'home/backup.git'));
    git(tree, 'remote', 'add', 'backup', join(root, 'home/backup.git'));
    commit(tree, 'work');
    git(tree, 'push', '-q', 'backup', 'main');
    const expected = { kind: 'clone', root } as const;
    expect(await assess(tree, { env: QUIET, expected })).toMatchObject({ verdict: 'unpushed' });
  });
});
