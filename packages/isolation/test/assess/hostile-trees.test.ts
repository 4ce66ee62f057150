import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { hardenedGit } from '@jackin/core';
import { describe, expect, test } from '@jest/globals';
import { assess } from '../../src/index.ts';
import { commit, failingGit, git, ground, QUIET, session, write } from './helpers.ts';

const mkfifo = (path: string) => execFileSync('mkfifo', [path]);

describe('files of git that are not what they should be', () => {
  test.each([
    'HEAD',
    'config',
    'index',
    'packed-refs',
    'shallow',
    'info/exclude',
    'refs/heads/x',
    'logs/refs/stash',
  ])('make the verdict unknown at once: a pipe as %s', async (name) => {
    using g = ground();
    const path = join(g.repo, '.git', name);
    rmSync(path, { force: true });
    mkdirSync(join(path, '..'), { recursive: true });
    mkfifo(path);
    const started = performance.now();
    const result = await assess(g.repo, { env: QUIET });
    expect(result.verdict).toBe('unknown');
    expect(result.reason).toMatch(/is not a regular file/);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test.each([
    'HEAD',
    'config',
    'index',
    'refs',
    'refs/heads',
    'refs/heads/main',
    'objects',
    'objects/pack',
    'objects/info/alternates',
  ])('make the verdict unknown: a link as %s', async (name) => {
    using g = ground();
    git(g.repo, 'gc', '-q');
    git(g.repo, 'commit', '-q', '--allow-empty', '-m', 'loose');
    const path = join(g.repo, '.git', name);
    const moved = join(g.dir, 'moved');
    try {
      renameSync(path, moved);
    } catch {
      writeFileSync(moved, `${join(g.remote, 'objects')}\n`);
    }
    symlinkSync(moved, path);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unknown' });
  });

  test.each(['a pipe', 'a link', 'nothing', 'an empty directory'])(
    'are no repository: %s as .git',
    async (what) => {
      using g = ground();
      const [dotGit, moved] = [join(g.repo, '.git'), join(g.dir, 'moved')];
      renameSync(dotGit, moved);
      if (what === 'a pipe') mkfifo(dotGit);
      if (what === 'a link') symlinkSync(moved, dotGit);
      if (what === 'an empty directory') mkdirSync(dotGit);
      expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unknown', git_processes: 0 });
    },
  );

  test('are not read when they are huge: an index of 2 GB', async () => {
    using g = ground();
    const index = openSync(join(g.repo, '.git/index'), 'r+');
    ftruncateSync(index, 2 * 1024 ** 3);
    closeSync(index);
    const started = performance.now();
    const result = await assess(g.repo, { env: QUIET });
    expect(result).toMatchObject({ verdict: 'unknown' });
    expect(result.reason).toMatch(/index is larger than/);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test.each([
    ['a damaged index', 'index', 'garbage'],
    ['an index of zeros', 'index', '\0'.repeat(500)],
    ['a ref of zeros, as a power cut leaves it', 'refs/heads/main', '\0'.repeat(41)],
    ['an empty ref', 'refs/heads/main', ''],
    ['an empty HEAD', 'HEAD', ''],
    ['a configuration nobody can parse', 'config', '[core\n'],
    ['objects elsewhere', 'objects/info/alternates', '/var/lib/objects\n'],
    ['a common directory elsewhere', 'commondir', '/var/lib/repo\n'],
    ['a format to come', 'config', '[core]\n\trepositoryformatversion = 2\n'],
    ['an extension to come', 'config', '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnew = 1\n'],
    [
      'refs in another form',
      'config',
      '[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n',
    ],
    ['a work tree elsewhere', 'config', '[core]\n\tworktree = /var/lib\n'],
    ['a filter of its own', 'config', '[filter "x"]\n\tclean = touch marker\n'],
  ])('make the verdict unknown: %s', async (_what, name, content) => {
    using g = ground();
    write(join(g.repo, '.git'), name, content);
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unknown' });
  });

  test('name the setting that can run a program', async () => {
    using g = ground();
    git(g.repo, 'config', 'filter.Mine.process', 'touch marker');
    expect((await assess(g.repo, { env: QUIET })).reason).toBe(
      'repository configuration can run programs (filter.Mine.process)',
    );
  });

  test('a missing object is unknown', async () => {
    using g = ground();
    const id = commit(g.repo, 'work');
    unlinkSync(join(g.repo, '.git/objects', id.slice(0, 2), id.slice(2)));
    expect(await assess(g.repo, { env: QUIET })).toMatchObject({ verdict: 'unknown' });
  });

  test('a tree that was replaced by a link is unknown where a tree is expected', async () => {
    using s = await session();
    renameSync(s.tree, join(s.dir, 'moved'));
    symlinkSync(join(s.dir, 'moved'), s.tree);
    expect(await s.assess()).toMatchObject({
      verdict: 'unknown',
      reason: 'the tree was replaced by a symbolic link',
    });
  });

  test('a link to a tree is followed where none is expected', async () => {
    using g = ground();
    symlinkSync(g.repo, join(g.dir, 'link'));
    expect(await assess(join(g.dir, 'link'), { env: QUIET })).toMatchObject({
      verdict: 'clean',
      path: g.repo,
    });
  });

  test('a worktree that points to another repository is unknown', async () => {
    using s = await session();
    using other = ground();
    git(other.repo, 'worktree', 'add', '-q', '-b', 's', join(other.dir, 'V'));
    writeFileSync(join(s.tree, '.git'), `gitdir: ${other.repo}/.git/worktrees/V\n`);
    const pointed = await s.assess();
    expect(pointed).toMatchObject({ verdict: 'unknown' });
    expect(pointed.reason).toMatch(/leads outside/);
    writeFileSync(join(s.tree, '.git'), `gitdir: ${other.repo}/.git\n`);
    expect(await s.assess()).toMatchObject({ verdict: 'unknown' });
    expect(await assess(s.tree, { env: QUIET })).toMatchObject({ verdict: 'unknown' });
  });

  test('a worktree whose repository moved is unknown', async () => {
    using s = await session();
    renameSync(s.repo, join(s.dir, 'repo2'));
    const moved = await s.assess();
    expect(moved).toMatchObject({ verdict: 'unknown' });
    expect(moved.reason).toMatch(/the repository it belongs to is not there/);
  });

  test('a repository inside that leads outside keeps git out of the tree', async () => {
    using s = await session();
    using other = ground();
    write(s.tree, 'scratch/n/.git', `gitdir: ${other.repo}/.git\n`);
    const calls: string[] = [];
    const result = await s.assess({
      git: (args, options) => {
        calls.push(args[0] ?? '');
        return hardenedGit(args, options);
      },
    });
    expect(result).toMatchObject({
      verdict: 'unknown',
      evidence: { nested: [{ path: 'scratch/n', verdict: 'unknown' }] },
    });
    expect(calls).not.toContain('status');
  });

  test('a pipe where git reads patterns makes the verdict unknown at once', async () => {
    using s = await session();
    mkdirSync(join(s.tree, 'deep'));
    mkfifo(join(s.tree, 'deep/.gitignore'));
    expect(await s.assess()).toMatchObject({
      verdict: 'unknown',
      reason: 'deep/.gitignore is not a regular file',
    });
  });

  test('a status that never ends is ended, and unknown', async () => {
    using s = await session();
    const never = join(s.dir, 'bin/git');
    write(
      s.dir,
      'bin/git',
      '#!/bin/sh\ncase "$*" in *porcelain*) exec sleep 600;; esac\nPATH=$REST exec git "$@"\n',
    );
    execFileSync('chmod', ['+x', never]);
    const env = { ...QUIET, PATH: `${join(s.dir, 'bin')}:${process.env.PATH}`, REST: process.env.PATH };
    const result = await s.assess({ env, limits: { callMs: 1_500 } });
    expect(result).toMatchObject({ verdict: 'unknown' });
    expect(result.reason).toMatch(/git did not finish in time/);
  });

  test('a walk that hits its bound is unknown', async () => {
    using s = await session();
    write(s.tree, '1/2/3/4/5/file', '');
    expect(await s.assess({ limits: { depth: 3 } })).toMatchObject({ verdict: 'unknown' });
    expect(await s.assess({ limits: { entries: 3 } })).toMatchObject({ verdict: 'unknown' });
  });

  test('nothing of a tree or its repository is written, bytes and times', async () => {
    using s = await session();
    appendFileSync(join(s.tree, 'a'), 'x\n');
    git(s.tree, 'stash', '-q');
    git(s.tree, 'update-index', '--assume-unchanged', 'b');
    appendFileSync(join(s.tree, 'b'), 'x\n');
    write(s.tree, 'node_modules/x', '');
    git(s.dir, 'clone', '-q', s.remote, join(s.tree, 'scratch/n'));
    commit(join(s.tree, 'scratch/n'), 'a');
    failingGit(s.tree, 'checkout', 'nowhere');
    const before = everything(s.dir);
    expect(await s.assess()).toMatchObject({ verdict: 'dirty' });
    expect(everything(s.dir)).toEqual(before);
  });
});

/** Every entry below a directory: what it is, its content and when it was written. */
function everything(root: string, at = root): Record<string, string> {
  return Object.assign(
    {},
    ...readdirSync(at).map((name) => {
      const path = join(at, name);
      const stats = lstatSync(path, { bigint: true });
      const what = stats.isDirectory()
        ? 'directory'
        : stats.isSymbolicLink()
          ? readlinkSync(path)
          : readFileSync(path, 'latin1');
      const own = { [relative(root, path)]: `${stats.mode} ${stats.mtimeNs} ${stats.ctimeNs} ${what}` };
      return stats.isDirectory() ? { ...own, ...everything(root, path) } : own;
    }),
  );
}
