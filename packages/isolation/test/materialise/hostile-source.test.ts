import { chmodSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  materialise,
  observeSource,
  recreateTree,
  removeMaterialised,
  repairRegistration,
} from '../../src/index.ts';
import { commit, git, makeWorld, planned, type World, write } from './support.ts';

let world: World;
let marker: string;
beforeEach(() => {
  world = makeWorld();
  marker = join(world.dir, 'marker');
});
afterEach(() => world.clean());

const HOOKS = [
  'post-checkout',
  'post-index-change',
  'reference-transaction',
  'pre-auto-gc',
  'post-merge',
  'post-rewrite',
  'fsmonitor-watchman',
];

function plantScript(path: string): string {
  write(path, `#!/bin/sh\necho ran >> '${marker}'\ncat 2>/dev/null\nexit 0\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('what a source has planted', () => {
  test.each(['worktree', 'clone'] as const)('runs in no step of a %s', async (isolation) => {
    write(join(world.repo, '.gitattributes'), '* filter=planted\n');
    commit(world.repo, 'data', 'as committed\n');
    for (const hook of HOOKS) plantScript(join(world.repo, '.git', 'hooks', hook));
    const script = plantScript(join(world.dir, 'planted.sh'));
    for (const key of [
      'filter.planted.clean',
      'filter.planted.smudge',
      'core.fsmonitor',
      'core.sshCommand',
    ]) {
      git(world.repo, 'config', key, script);
    }
    git(world.repo, 'config', 'filter.planted.required', 'true');
    git(world.repo, 'config', 'core.alternateRefsCommand', script);
    // The marker shows itself when plain git does the same.
    git(world.repo, 'worktree', 'add', '-q', '--detach', join(world.dir, 'plain'));
    expect(existsSync(marker)).toBe(true);
    git(world.repo, 'worktree', 'remove', '-f', join(world.dir, 'plain'));
    const ran = readFileSync(marker, 'utf8');

    const plan = await planned(world, { src: world.repo, isolation });
    expect(plan.notices.join()).toContain('The filter planted');
    const { record } = await materialise(plan);
    expect(readFileSync(join(record.worktree_path, 'data'), 'utf8')).toBe('as committed\n');
    await observeSource(record);
    if (isolation === 'worktree') {
      git(world.repo, 'config', '--unset', 'core.fsmonitor');
      const from = { branch: record.scratch_branch, commit: record.base_commit };
      const { rmSync } = await import('node:fs');
      rmSync(join(world.repo, '.git', 'worktrees'), { recursive: true });
      await repairRegistration(record);
      rmSync(record.worktree_path, { recursive: true });
      await recreateTree(record, from);
    }
    await removeMaterialised(record);
    expect(readFileSync(marker, 'utf8')).toBe(ran);
  });
});

describe('a submodule', () => {
  function addSubmodule(): string {
    const inner = join(world.dir, 'inner');
    git(world.dir, 'init', '-q', '-b', 'main', inner);
    commit(inner, 'inner');
    git(world.repo, 'submodule', 'add', '-q', inner, 'libs/sub');
    git(world.repo, 'commit', '-q', '-m', 'sub');
    return inner;
  }

  test.each(['worktree', 'clone'] as const)('has a repository of its own in a %s', async (isolation) => {
    addSubmodule();
    git(join(world.repo, 'libs/sub'), 'remote', 'set-url', 'origin', 'https://me:secret@example.org/sub.git');
    const unpushed = commit(join(world.repo, 'libs/sub'), 'unpushed');
    git(world.repo, 'commit', '-q', '-a', '-m', 'bump');
    const config = readFileSync(join(world.repo, '.git', 'config'), 'utf8');
    const { record } = await materialise(await planned(world, { src: world.repo, isolation }));
    const sub = join(record.worktree_path, 'libs/sub');
    expect(git(record.worktree_path, 'status', '--porcelain')).toBe('');
    expect(git(record.worktree_path, 'submodule', 'status')).toMatch(new RegExp(`^ ${unpushed} libs/sub`));
    expect(git(sub, 'rev-parse', 'HEAD')).toBe(unpushed);
    expect(git(sub, 'remote', 'get-url', 'origin')).toBe('https://example.org/sub.git');
    expect(git(sub, 'rev-parse', '--absolute-git-dir')).toBe(join(sub, '.git'));
    commit(sub, 'agent');
    expect(readFileSync(join(world.repo, '.git', 'config'), 'utf8')).toBe(config);
    expect(git(join(world.repo, 'libs/sub'), 'cat-file', '-t', unpushed)).toBe('commit');
    expect(() =>
      git(join(world.repo, 'libs/sub'), 'cat-file', '-e', git(sub, 'rev-parse', 'HEAD')),
    ).toThrow();
  });

  test('that is not initialised is named and empty', async () => {
    addSubmodule();
    const plain = join(world.dir, 'plain');
    git(world.dir, 'clone', '-q', world.repo, plain);
    const { record, notices } = await materialise(await planned(world, { src: plain }));
    expect(notices.join()).toContain('libs/sub is not initialised');
    expect(existsSync(join(record.worktree_path, 'libs/sub', 'inner'))).toBe(false);
  });

  test('whose repository lies elsewhere brings nothing of it', async () => {
    addSubmodule();
    const secret = join(world.dir, 'secret');
    git(world.dir, 'init', '-q', '-b', 'main', secret);
    commit(secret, 'secret');
    write(join(world.repo, 'libs/sub/.git'), `gitdir: ${join(secret, '.git')}\n`);
    const { record, notices } = await materialise(await planned(world, { src: world.repo }));
    expect(notices.join()).toContain('outside');
    expect(existsSync(join(record.worktree_path, 'libs/sub', '.git'))).toBe(false);
  });

  test('whose repository does not have the commit is named and empty', async () => {
    addSubmodule();
    git(world.repo, 'update-index', '--cacheinfo', `160000,${'1'.repeat(40)},libs/sub`);
    git(world.repo, 'commit', '-q', '-m', 'nowhere');
    const { notices } = await materialise(await planned(world, { src: world.repo }));
    expect(notices.join()).toContain('does not have the commit');
  });
});

describe('a clone', () => {
  test('shares no file with the objects of its source', async () => {
    symlinkSync('nowhere', join(world.repo, 'link'));
    commit(world.repo, 'x');
    git(world.repo, 'gc', '-q');
    commit(world.repo, 'y');
    const { record } = await materialise(await planned(world, { src: world.repo, isolation: 'clone' }));
    const { statSync, readdirSync } = await import('node:fs');
    const objects = join(record.worktree_path, '.git', 'objects');
    const files = readdirSync(objects, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(statSync(join(file.parentPath, file.name)).nlink).toBe(1);
    expect(git(record.worktree_path, 'fsck')).toBe('');
    expect(git(record.worktree_path, 'gc', '-q', '--prune=now')).toBe('');
  });

  test('has no credential of the origin anywhere', async () => {
    git(world.repo, 'remote', 'set-url', 'origin', 'https://user:hunter2@github.com/o/r.git');
    const { record } = await materialise(await planned(world, { src: world.repo, isolation: 'clone' }));
    const config = readFileSync(join(record.worktree_path, '.git', 'config'), 'utf8');
    expect(config).toContain('https://github.com/o/r.git');
    expect(config).not.toContain('hunter2');
    expect(JSON.stringify(record)).not.toContain('hunter2');
  });
});
