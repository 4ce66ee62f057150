import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { assess } from '../../src/index.ts';

let root: string;
let tree: string;
const git = (...args: string[]) =>
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@example.test', '-c', 'protocol.file.allow=always', ...args],
    { cwd: tree, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  ).trim();

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'jackin-remotes-')));
  tree = join(root, 'tree');
  mkdirSync(tree);
  git('init', '-q', '--bare', '-b', 'main', join(root, 'remote.git'));
  git('init', '-q', '-b', 'main');
  writeFileSync(join(tree, 'a'), 'one');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  git('remote', 'add', 'origin', join(root, 'remote.git'));
  git('push', '-q', 'origin', 'main');
  git('fetch', '-q', 'origin');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A commit that only the remote-tracking ref of `remote` has. */
function onlyAsRemoteRef(remote: string): void {
  git('switch', '-q', '-c', 'work');
  git('commit', '-q', '--allow-empty', '-m', 'work');
  git('update-ref', `refs/remotes/${remote}/work`, 'HEAD');
  git('switch', '-q', 'main');
  git('branch', '-q', '-D', 'work');
}

describe('a remote-tracking ref', () => {
  test('of a real remote is what is elsewhere', async () => {
    onlyAsRemoteRef('origin');
    expect(await assess(tree)).toMatchObject({ verdict: 'clean' });
  });

  test('of a remote that is gone is only a name for its commits', async () => {
    git('remote', 'add', 'gone', join(root, 'nowhere.git'));
    onlyAsRemoteRef('gone');
    const found = await assess(tree);
    expect(found).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: 'refs/remotes/gone/work' }] },
    });
  });

  test('of a remote nobody configured is, too', async () => {
    onlyAsRemoteRef('svn');
    expect(await assess(tree)).toMatchObject({ verdict: 'unpushed' });
  });

  test('of a directory that is no repository proves nothing', async () => {
    mkdirSync(join(root, 'backup'));
    git('remote', 'add', 'backup', join(root, 'backup'));
    onlyAsRemoteRef('backup');
    expect(await assess(tree)).toMatchObject({ verdict: 'unpushed' });
  });

  test('of a place in the container is not that of the same name on this machine', async () => {
    const inside = join(root, 'inside');
    mkdirSync(inside);
    git('init', '-q', '--bare', join(inside, 'backup.git'));
    git('remote', 'add', 'backup', join(inside, 'backup.git'));
    onlyAsRemoteRef('backup');
    expect(await assess(tree)).toMatchObject({ verdict: 'clean' });
    expect(await assess(tree, { views: [{ inside, host: tree }] })).toMatchObject({ verdict: 'unpushed' });
  });

  test.each(['/./backup.git', '/x/../backup.git', '//backup.git'])(
    'of a place in the container is not made another one by the way it is written: %s',
    async (name) => {
      const inside = join(root, 'inside');
      mkdirSync(join(inside, 'x'), { recursive: true });
      git('init', '-q', '--bare', join(inside, 'backup.git'));
      git('remote', 'add', 'backup', `${root}/./inside${name}`);
      onlyAsRemoteRef('backup');
      expect(await assess(tree, { views: [{ inside, host: tree }] })).toMatchObject({ verdict: 'unpushed' });
    },
  );

  test('of a place the container reaches from the tree proves nothing', async () => {
    git('init', '-q', '--bare', join(root, 'shared.git'));
    git('remote', 'add', 'backup', '../shared.git');
    onlyAsRemoteRef('backup');
    expect(await assess(tree)).toMatchObject({ verdict: 'clean' });
    const views = [
      { inside: '/w/tree', host: tree },
      { inside: '/w/shared.git', host: join(root, 'elsewhere') },
    ];
    expect(await assess(tree, { views })).toMatchObject({ verdict: 'unpushed' });
  });

  test('of a directory whose parts are links to a repository proves nothing', async () => {
    mkdirSync(join(root, 'links'));
    for (const part of ['HEAD', 'objects', 'refs']) {
      symlinkSync(join(tree, '.git', part), join(root, 'links', part));
    }
    git('remote', 'add', 'links', join(root, 'links'));
    onlyAsRemoteRef('links');
    expect(await assess(tree)).toMatchObject({ verdict: 'unpushed' });
  });

  test('of a clone with a work tree is what is elsewhere', async () => {
    git('clone', '-q', join(root, 'remote.git'), join(root, 'other'));
    git('remote', 'add', 'other', join(root, 'other'));
    onlyAsRemoteRef('other');
    expect(await assess(tree)).toMatchObject({ verdict: 'clean' });
  });

  test('of a remote that is gone stays with the repository a worktree belongs to', async () => {
    onlyAsRemoteRef('gone');
    git('worktree', 'add', '-q', join(root, 'linked'));
    expect(await assess(join(root, 'linked'))).toMatchObject({ kind: 'worktree', verdict: 'clean' });
    expect(await assess(tree)).toMatchObject({ verdict: 'unpushed' });
  });

  test('belongs to the remote with the longest name that fits', async () => {
    git('remote', 'add', 'origin/in', join(root, 'nowhere.git'));
    onlyAsRemoteRef('origin/in');
    expect(await assess(tree)).toMatchObject({ verdict: 'unpushed' });
  });
});

test('a fingerprint tells when a file that was found is written again, and only then', async () => {
  writeFileSync(join(tree, 'draft'), 'one');
  const first = await assess(tree);
  expect((await assess(tree)).fingerprint).toBe(first.fingerprint);
  writeFileSync(join(tree, 'draft'), 'much more');
  const second = await assess(tree);
  expect(second.evidence).toEqual(first.evidence);
  expect(second.fingerprint).not.toBe(first.fingerprint);
});

test('a fingerprint tells the same of a file in a repository inside', async () => {
  git('init', '-q', '-b', 'main', join(tree, 'inner'));
  writeFileSync(join(tree, 'inner', 'draft'), 'one');
  const first = await assess(tree);
  expect(first.evidence?.nested).toMatchObject([{ path: 'inner', verdict: 'dirty' }]);
  expect((await assess(tree)).fingerprint).toBe(first.fingerprint);
  writeFileSync(join(tree, 'inner', 'draft'), 'much more');
  const second = await assess(tree);
  expect(second.evidence).toEqual(first.evidence);
  expect(second.fingerprint).not.toBe(first.fingerprint);
});

test.each(['worktree/mine', 'bisect/bad', 'rewritten/onto'])(
  'a commit only refs/%s of another worktree of a clone has is not elsewhere',
  async (name) => {
    const linked = join(root, 'linked');
    git('worktree', 'add', '-q', '-b', 'linked', linked);
    git('-C', linked, 'commit', '-q', '--allow-empty', '-m', 'work');
    const work = git('-C', linked, 'rev-parse', 'HEAD');
    git('-C', linked, 'update-ref', `refs/${name}`, 'HEAD');
    git('-C', linked, 'reset', '-q', '--hard', 'HEAD~1');
    expect(await assess(tree)).toMatchObject({
      verdict: 'unpushed',
      evidence: { branches: [{ name: `worktrees/linked/refs/${name}`, commit: work, ahead: 1 }] },
    });
  },
);

test('refs of another worktree that are no directory are a doubt', async () => {
  git('worktree', 'add', '-q', '-b', 'linked', join(root, 'linked'));
  const refs = join(tree, '.git/worktrees/linked/refs');
  rmSync(refs, { recursive: true, force: true });
  symlinkSync(join(tree, '.git/refs'), refs);
  expect(await assess(tree)).toMatchObject({ verdict: 'unknown' });
});
