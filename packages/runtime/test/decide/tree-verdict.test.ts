import type { Assessment } from '@jackin/isolation';
import { describe, expect, test } from '@jest/globals';
import { type TreeSeen, treeVerdict } from '../../src/decide/tree-verdict.ts';

const dirty = { verdict: 'dirty', reason: 'one file' } as Assessment;
const clean = { verdict: 'clean', reason: 'nothing' } as Assessment;
const seen = (change: Partial<TreeSeen>): TreeSeen => ({
  record: { base_commit: 'base' },
  assessment: clean,
  branchCommit: 'base',
  users: [],
  ...change,
});
const making = { base_commit: 'base', making: true };
const user = { pid: 7, name: 'vim' };

describe('the verdict on a recorded tree', () => {
  test.each([
    ['what was found', { assessment: dirty }, 'dirty', /^one file$/],
    ['what was found', {}, 'clean', /^nothing$/],
    ['unknown when nobody looked', { assessment: null }, 'unknown', /not been assessed/],
    [
      'unknown while somebody works there',
      { users: [user] },
      'unknown',
      /^process 7 \(vim\) .*; found: nothing$/,
    ],
    [
      'unknown while somebody works there',
      { users: [user], assessment: dirty },
      'unknown',
      /found: one file$/,
    ],
    ['clean when it was never finished', { record: making, assessment: null }, 'clean', /interrupted/],
    ['clean when its branch was not made', { record: making, branchCommit: null }, 'clean', /interrupted/],
    ['unknown when its branch has moved', { record: making, branchCommit: 'b' }, 'unknown', /has moved/],
  ] as const)('is %s: %j', (_what, change, verdict, reason) => {
    expect(treeVerdict(seen(change as Partial<TreeSeen>))).toEqual({
      verdict,
      reason: expect.stringMatching(reason),
    });
  });
});
