import type { IsolationRecord } from '@jackin/instance';
import { expect, test } from '@jest/globals';
import { driftOf, type WantedTree } from '../../src/index.ts';

const record: IsolationRecord = {
  workspace: 'app',
  mount_dst: '/workspace/app',
  original_src: '/srv/app',
  isolation: 'worktree',
  worktree_path: '/home/data/jk-aaaa1111-app-role/git/worktree/repo/workspace/app/jk-aaaa1111-app-role',
  scratch_branch: 'jackin/scratch/jk-aaaa1111-app-role',
  base_commit: '1'.repeat(40),
  selector_key: 'role',
  container_name: 'jk-aaaa1111-app-role',
  cleanup_status: 'active',
};
const same: WantedTree = { dst: record.mount_dst, isolation: 'worktree', src: record.original_src };

test.each<[string, WantedTree[]]>([
  ['O18: of the same source and kind is used as it is', [same]],
  ['is used when the mount is shared now: nothing else is asked for', [{ ...same, isolation: 'shared' }]],
  ['says nothing of another mount', [{ ...same, dst: '/other', isolation: 'clone', src: '/srv/other' }]],
  ['is used when nothing is asked for', []],
])('a recorded tree %s', (_what, wanted) => {
  expect(driftOf([record], wanted)).toBeNull();
});

test.each<[string, WantedTree, string]>([
  ['kind', { ...same, isolation: 'clone' }, 'a clone of "/srv/app"'],
  ['source', { ...same, src: '/srv/other' }, 'a worktree of "/srv/other"'],
])('another %s is drift that names both, and how to go on with each', (_what, wanted, asked) => {
  const error = driftOf([record], [{ ...same, dst: '/first' }, wanted]);
  expect(error?.code).toBe('ISOLATION_DRIFT');
  expect(error?.message).toContain('made as a worktree of "/srv/app"');
  expect(error?.message).toContain(asked);
  expect(error?.hint).toMatch(/jackin resume jk-aaaa1111-app-role.*jackin load --new/);
});
