import type { Divergence } from '@jackin/isolation';
import { describe, expect, test } from '@jest/globals';
import type { InstanceFacts } from '../../src/facts.ts';
import { planRestore, restoreTrees } from '../../src/index.ts';
import { answers, CALL, factsOf, RUNNING, SESSION } from './fixtures.ts';

const BASE_COMMIT = 'a'.repeat(40);
const TIP = 'b'.repeat(40);

function withTree(divergence: Divergence | null, change: Parameters<typeof factsOf>[1] = {}): InstanceFacts {
  const mount = { mount_dst: '/workspace/app', kind: 'worktree' as const, path: '/data/tree' };
  return factsOf('docker', {
    isolated: [{ ...mount, verdict: 'dirty', reason: '1 file uncommitted', divergence }],
    ...change,
  });
}

describe('what a restore does about a tree whose repository changed', () => {
  const table: [string, Divergence | null, 'ok' | 'needs_consent' | 'blocked', string[], string | null][] = [
    ['nobody looked', null, 'ok', [], null],
    ['unchanged', { state: 'unchanged' }, 'ok', [], null],
    ['ahead', { state: 'ahead', commits: 3 }, 'ok', [], null],
    [
      'its registration is gone',
      { state: 'registration_missing', repairable: true, reason: 'pruned' },
      'ok',
      ['repair_registration'],
      null,
    ],
    [
      'its directory is gone and its branch is there',
      { state: 'tree_missing', path: '/data/tree', branch: 'jackin/scratch/x', commit: TIP },
      'needs_consent',
      ['recreate_tree'],
      null,
    ],
    [
      'directory and branch are gone',
      { state: 'tree_missing', path: '/data/tree', branch: null, commit: null },
      'blocked',
      [],
      'TREE_MISSING',
    ],
    [
      'its base was rewritten',
      { state: 'rewritten', base: BASE_COMMIT, branch: 'main', commit: TIP },
      'blocked',
      [],
      'SOURCE_DIVERGED',
    ],
    [
      'its branch is checked out elsewhere',
      { state: 'branch_elsewhere', branch: 'jackin/scratch/x', worktree: '/home/op/w2' },
      'blocked',
      [],
      'BRANCH_IN_USE',
    ],
    [
      'the repository was moved',
      { state: 'source_missing', source: '/home/op/r', reason: 'there is nothing' },
      'blocked',
      [],
      'SOURCE_MISSING',
    ],
    ['nobody could look', { state: 'unknown', reason: 'git timed out' }, 'blocked', [], 'SOURCE_UNKNOWN'],
  ];

  test.each(table)('%s', (_what, divergence, outcome, steps, code) => {
    const found = restoreTrees(withTree(divergence));
    expect(found.outcome).toBe(outcome);
    if (found.outcome === 'blocked') {
      expect(found.error.code).toBe(code);
      expect(found.error.message).toContain('/data/tree');
      expect(found.error.hint).toContain('jackin load --new');
      return;
    }
    expect(found.steps.map(({ op }) => op)).toEqual(steps);
  });

  test('O28: says that the tree is gone, where its branch is, and what does not come back', () => {
    const commit = 'c'.repeat(40);
    const found = restoreTrees(
      withTree({ state: 'tree_missing', path: '/data/tree', branch: 'jackin/scratch/x', commit }),
    );
    if (found.outcome !== 'needs_consent') throw new Error('it needs consent');
    expect(found.reason).toContain('is gone; its branch jackin/scratch/x is there at cccccccccccc');
    expect(found.reason).toContain('files that were not committed do not come back');
  });

  test('one tree that blocks keeps all of them', () => {
    const facts = withTree({ state: 'unchanged' });
    const moved: Divergence = { state: 'source_missing', source: '/r', reason: 'gone' };
    const other = {
      mount_dst: '/b',
      kind: 'worktree' as const,
      path: '/t2',
      verdict: 'clean' as const,
      reason: '',
    };
    const both = { ...facts, isolated: [...facts.isolated, { ...other, divergence: moved }] };
    expect(restoreTrees(both).outcome).toBe('blocked');
  });

  test('the repair comes before anything starts, and git is tried inside before the agent', () => {
    const gone: Divergence = { state: 'registration_missing', repairable: true, reason: 'pruned' };
    const facts = withTree(gone);
    const mounts = [{ src: '/r', dst: '/workspace/app', isolation: 'worktree' as const, readonly: false }];
    const recipe = { ...facts.manifest.recipe, mounts } as NonNullable<typeof facts.manifest.recipe>;
    const planned = planRestore({
      ...CALL,
      facts: { ...facts, manifest: { ...facts.manifest, recipe } },
      session: SESSION,
    });
    if (planned.outcome === 'blocked') throw planned.error;
    const ops = planned.plan.steps.map(({ op }) => op);
    expect(ops.indexOf('repair_registration')).toBeGreaterThan(0);
    expect(ops.indexOf('repair_registration')).toBeLessThan(ops.indexOf('create_resources'));
    expect(ops.indexOf('start_container')).toBeLessThan(ops.indexOf('check_trees'));
    expect(ops.indexOf('check_trees')).toBeLessThan(ops.indexOf('start_session'));
  });

  test.each([true, false])(
    'what runs is joined whatever became of the repository: agent alive %s',
    (alive) => {
      const moved: Divergence = { state: 'source_missing', source: '/r', reason: 'gone' };
      const facts = withTree(moved, { observation: { container: RUNNING }, capsule: answers(alive) });
      const planned = planRestore({ ...CALL, facts, session: SESSION });
      expect(planned).toMatchObject({ outcome: 'plan', plan: { tier: 0 } });
    },
  );
});
