import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Instance } from './support/instance.ts';
import { isolatedSession, treeOf } from './support/isolated.ts';
import { createRepository, gitDirectoryOf, type Repository } from './support/repository.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

jest.setTimeout(120_000);

let sandbox: Sandbox;
let repository: Repository;
let instance: Instance;
let tree: string;
/** Commits when it starts, then leaves a file behind. */
const SCRIPT =
  'test -e made || { echo made > made; git add made; git commit -q -m made; echo draft > draft; }';

beforeEach(async () => {
  sandbox = createSandbox();
  repository = createRepository(join(sandbox.root, 'app'), join(sandbox.root, 'remote.git'));
  instance = await isolatedSession(sandbox, repository, 'worktree', SCRIPT);
  await sandbox.jackin(['stop', instance.id, '--keep']);
  tree = (await treeOf(sandbox, instance)).path;
});
afterEach(() => sandbox.dispose());

const resume = async (...flags: string[]) => {
  const { code, json, stderr } = await sandbox.jackin([
    'resume',
    instance.id,
    '--detach',
    '--json',
    ...flags,
  ]);
  return { code, data: json().data, error: json().error, stderr };
};
const branch = () => `jackin/scratch/${instance.base}`;

describe('a kept worktree whose surroundings changed', () => {
  test('O28: its directory is gone: says what is left, and makes it again only when that was agreed to', async () => {
    rmSync(tree, { recursive: true });
    const refused = await resume();
    expect([refused.code, refused.error.code]).toEqual([3, 'DECISION_NEEDED']);
    expect(refused.error.message).toContain(`its branch ${branch()} is there at`);
    expect(refused.error.message).toContain('files that were not committed do not come back');
    expect(existsSync(tree)).toBe(false);
    const again = await resume('--accept-loss');
    expect([again.code, again.data.tier]).toEqual([0, 1]);
    expect([existsSync(join(tree, 'made')), existsSync(join(tree, 'draft'))]).toEqual([true, false]);
    expect(repository.git(['log', '-1', '--format=%s'], tree)).toBe('made');
  });

  test('O25: its registration was pruned: it is repaired, and no file of the tree is touched', async () => {
    repository.git(['worktree', 'unlock', tree]);
    rmSync(join(repository.path, '.git/worktrees', instance.base), { recursive: true });
    expect(() => repository.git(['status'], tree)).toThrow('not a git repository');
    const before = readFileSync(join(tree, 'draft'), 'utf8');
    const { code, stderr } = await resume();
    expect(code).toBe(0);
    expect(stderr).toContain('its registration is repaired');
    expect(readFileSync(join(tree, 'draft'), 'utf8')).toBe(before);
    expect(repository.git(['status', '--short'], tree)).toBe('?? draft');
    expect(repository.git(['worktree', 'list', '--porcelain'])).toContain(`locked jackin ${instance.base}`);
  });

  test('O27: its repository was moved: named as the cause, never pruned, and repaired from its new place', async () => {
    const moved = `${repository.path}2`;
    renameSync(repository.path, moved);
    const refused = await resume();
    expect([refused.code, refused.error.code]).toEqual([1, 'SOURCE_MISSING']);
    expect(refused.error.message).toContain(`the source repository ${repository.path} was moved or deleted`);
    expect(refused.error.hint).toContain(`jackin resume ${instance.id} --source NEW_PATH`);
    const { code, stderr } = await resume('--source', moved);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`is at ${moved} now`)]);
    expect(repository.git(['status', '--short'], tree)).toBe('?? draft');
    await sandbox.jackin(['stop', instance.id, '--keep']);
    const purged = await sandbox.jackin(['purge', instance.id, '--force', '--json']);
    expect(purged.json().data.outcome).toBe('cleaned');
    expect(repository.git(['branch', '--list', 'jackin/*'], moved)).toBe('');
  });

  test('O32: its branch is checked out elsewhere: says where, and changes nothing', async () => {
    const other = join(sandbox.root, 'other');
    repository.git(['worktree', 'add', '--force', '-q', other, branch()]);
    const before = gitDirectoryOf(join(repository.path, '.git'));
    const { code, error } = await resume();
    expect([code, error.code]).toEqual([1, 'BRANCH_IN_USE']);
    expect(error.message).toContain(`is checked out in ${other}`);
    expect(error.hint).toContain(`git -C '${other}' switch --detach`);
    expect(gitDirectoryOf(join(repository.path, '.git'))).toEqual(before);
    expect(existsSync(join(tree, 'draft'))).toBe(true);
  });

  test('its base was rewritten: blocks, and says where the files are', async () => {
    repository.git(['commit', '-q', '--amend', '-m', 'another first']);
    const { code, error } = await resume();
    expect([code, error.code]).toEqual([1, 'SOURCE_DIVERGED']);
    expect(error.message).toContain(tree);
    expect(await treeOf(sandbox, instance)).toMatchObject({
      divergence: { state: 'rewritten', branch: 'main' },
    });
  });

  test('O19: its pointer is gone: git would answer for another repository, jackin answers unknown', async () => {
    rmSync(join(tree, '.git'));
    const found = await treeOf(sandbox, instance);
    expect(found.verdict).toBe('unknown');
    const stopped = await sandbox.jackin(['stop', instance.id, '--clean', '--json']);
    expect(stopped.json().data.outcome).toBe('kept');
    expect(existsSync(join(tree, 'draft'))).toBe(true);
  });
});

test('O16: age removes nothing: a session kept long ago is named, and is all there', async () => {
  const manifest = sandbox.manifest(instance.base);
  const old = '2020-01-01T00:00:00.000Z';
  const aged: Record<string, any> = { ...manifest, updated_at: old, keep: { ...manifest.keep, at: old } };
  aged.exit_cause = { ...manifest.exit_cause, at: old };
  writeFileSync(join(sandbox.state, 'data', instance.base, '.jackin/instance.json'), JSON.stringify(aged));
  const { stdout } = await sandbox.jackin(['status']);
  expect(stdout).toContain(`Kept for more than 14 days: ${instance.base}`);
  const other = await isolatedSession(sandbox, repository, 'worktree', 'true');
  expect((await sandbox.jackin(['stop', other.id, '--json'])).json().data.outcome).toBe('cleaned');
  expect(existsSync(join(tree, 'draft'))).toBe(true);
  expect(repository.git(['log', '-1', '--format=%s', branch()])).toBe('made');
});

test('O17 and O24: nothing is cleaned up while somebody works in the tree', async () => {
  const clean = await isolatedSession(sandbox, repository, 'clone', 'true');
  const { path } = await treeOf(sandbox, clean);
  const visitor = spawn('sleep', ['60'], { cwd: path });
  try {
    const stopped = await sandbox.jackin(['stop', clean.id, '--clean', '--json']);
    expect([stopped.code, stopped.json().data.outcome]).toEqual([4, 'kept']);
    expect(stopped.json().data.isolated[0].reason).toContain(`process ${visitor.pid} (sleep) works in it`);
    const purged = await sandbox.jackin(['purge', clean.id, '--force', '--json']);
    expect([purged.code, purged.json().error.code]).toEqual([3, 'WORK_UNKNOWN']);
    expect(existsSync(path)).toBe(true);
  } finally {
    visitor.kill();
    await once(visitor, 'exit');
  }
  expect((await sandbox.jackin(['purge', clean.id, '--yes', '--json'])).json().data.outcome).toBe('cleaned');
});

describe('jackin assess', () => {
  // One without the branch of the session, which is on no remote.
  beforeEach(() => {
    repository = createRepository(join(sandbox.root, 'plain'), join(sandbox.root, 'plain.git'));
  });

  const assess = async (...args: string[]) => {
    const { code, json } = await sandbox.jackin(['assess', ...args, '--json']);
    return { code, ...(json().data ?? json().error) };
  };

  test('tells about a repository, a worktree, a git directory and a submodule without any instance', async () => {
    expect(await assess(repository.path)).toMatchObject({ code: 0, kind: 'repository', verdict: 'clean' });
    expect(await assess(tree)).toMatchObject({ kind: 'worktree', verdict: 'dirty' });
    expect(await assess(join(repository.path, '.git'))).toMatchObject({ verdict: 'clean' });
    const library = createRepository(join(sandbox.root, 'lib'), join(sandbox.root, 'lib.git'));
    repository.git([
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      library.remote,
      'lib',
    ]);
    expect(await assess(join(repository.path, 'lib'))).toMatchObject({ kind: 'submodule', verdict: 'clean' });
    expect(await assess(repository.path)).toMatchObject({ verdict: 'dirty' });
  });

  test('counts from a base when it is given one', async () => {
    writeFileSync(join(repository.path, 'c'), 'not pushed');
    repository.git(['add', 'c']);
    repository.git(['commit', '-q', '-m', 'mine']);
    const head = repository.git(['rev-parse', 'HEAD']);
    expect(await assess(repository.path)).toMatchObject({ verdict: 'unpushed' });
    expect(await assess(repository.path, '--base', head)).toMatchObject({ verdict: 'clean' });
    expect(await assess(repository.path, '--base', head.slice(0, 10))).toMatchObject({ verdict: 'clean' });
  });

  test('names what cannot be meant', async () => {
    expect(await assess(join(sandbox.root, 'nowhere'))).toMatchObject({ code: 'PATH_NOT_FOUND' });
    expect(await assess(repository.path, '--base', 'main')).toMatchObject({ code: 'USAGE' });
    expect(await assess(sandbox.home)).toMatchObject({ code: 0, verdict: 'unknown' });
    const text = await sandbox.jackin(['assess', tree]);
    expect(text.stdout).toMatch(/^worktree .* dirty: 1 file uncommitted/);
    expect(text.stdout).toContain('?? draft');
  });
});
