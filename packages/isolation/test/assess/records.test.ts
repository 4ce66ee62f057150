import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessOptions, assess, assessRecord, snapshotRefs } from '../../src/index.ts';
import { commit, git, ground, QUIET, session, write } from './helpers.ts';

const look = (path: string, options: AssessOptions = {}) => assess(path, { env: QUIET, ...options });

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
