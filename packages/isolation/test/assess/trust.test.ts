import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
