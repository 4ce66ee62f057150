import { describe, expect, test } from '@jest/globals';
import {
  decideDivergence,
  type HistoryFact,
  type SourceState,
} from '../../src/divergence/decide-divergence.ts';

const history: HistoryFact = { base: 'b0', branch: 'main', commit: 'c1', contains_base: 'yes', ahead: 0 };
const fine: SourceState = {
  kind: 'worktree',
  tree: { path: '/t', present: 'yes' },
  source: { path: '/s', present: 'yes', reason: '' },
  registration: { state: 'ok' },
  scratch: { name: 'jackin/scratch/x', commit: 'c2', elsewhere: null },
  history,
};
const gone = { path: '/s', present: 'no' as const, reason: 'moved' };
const clone: SourceState = { ...fine, kind: 'clone', registration: null, scratch: null };

describe('the divergence of a tree', () => {
  test.each<[string, SourceState, string]>([
    ['nothing happened', fine, 'unchanged'],
    ['the host went on', { ...fine, history: { ...history, ahead: 3 } }, 'ahead'],
    ['the base is not on the branch', { ...fine, history: { ...history, contains_base: 'no' } }, 'rewritten'],
    ['nobody can tell', { ...fine, history: { ...history, contains_base: 'unknown' } }, 'unknown'],
    ['there is no history', { ...fine, history: null }, 'unknown'],
    ['the tree cannot be looked at', { ...fine, tree: { path: '/t', present: 'unknown' } }, 'unknown'],
    ['the source cannot be looked at', { ...fine, source: { ...gone, present: 'unknown' } }, 'unknown'],
    ['the source is gone', { ...fine, source: gone }, 'source_missing'],
    [
      'source and tree are gone',
      { ...fine, source: gone, tree: { path: '/t', present: 'no' } },
      'source_missing',
    ],
    ['the tree is gone', { ...fine, tree: { path: '/t', present: 'no' } }, 'tree_missing'],
    [
      'tree and branch are gone',
      { ...fine, tree: { path: '/t', present: 'no' }, scratch: null },
      'tree_missing',
    ],
    [
      'the branch is used elsewhere and the tree is gone',
      { ...fine, tree: { path: '/t', present: 'no' }, scratch: { name: 'x', commit: 'c', elsewhere: '/o' } },
      'branch_elsewhere',
    ],
    [
      'the branch is used elsewhere',
      { ...fine, scratch: { name: 'x', commit: 'c', elsewhere: '/o' } },
      'branch_elsewhere',
    ],
    [
      'the registration is broken and the base rewritten',
      {
        ...fine,
        registration: { state: 'repairable', reason: 'r' },
        history: { ...history, contains_base: 'no' },
      },
      'registration_missing',
    ],
    [
      'the registration is beyond repair',
      { ...fine, registration: { state: 'unknown', reason: 'r' } },
      'unknown',
    ],
    ['nobody looked at the registration', { ...fine, registration: null }, 'unknown'],
    ['a clone: nothing happened', clone, 'unchanged'],
    ['a clone: the source is gone', { ...clone, source: gone, history: null }, 'unchanged'],
    ['a clone: the source is unknown', { ...clone, source: { ...gone, present: 'unknown' } }, 'unchanged'],
    ['a clone: the host went on', { ...clone, history: { ...history, ahead: 1 } }, 'ahead'],
    ['a clone: rewritten', { ...clone, history: { ...history, contains_base: 'no' } }, 'rewritten'],
    ['a clone: no telling', { ...clone, history: { ...history, contains_base: 'unknown' } }, 'unchanged'],
    ['a clone: the tree is gone', { ...clone, tree: { path: '/t', present: 'no' } }, 'tree_missing'],
  ])('when %s', (_, state, expected) => {
    expect(decideDivergence(state).state).toBe(expected);
  });
});
