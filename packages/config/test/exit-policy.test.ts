import { exitPolicyEdit, resolveExitPolicy } from '@jackin/config';
import { expect, test } from '@jest/globals';

const VALUES = [undefined, 'ask', 'keep', 'clean'] as const;
const FLAGS = [null, 'keep', 'clean'] as const;
const cases = FLAGS.flatMap((flag) =>
  VALUES.flatMap((workspace) => VALUES.map((global) => ({ flag, workspace, global }))),
);
const policy = (value: (typeof VALUES)[number]) => (value === undefined ? {} : { dirty_exit_policy: value });

test.each(cases)('flag $flag, workspace $workspace, global $global', ({ flag, workspace, global }) => {
  const expected =
    flag !== null
      ? { value: flag, source: 'flag' }
      : workspace !== undefined
        ? { value: workspace, source: 'workspace' }
        : global !== undefined
          ? { value: global, source: 'global' }
          : { value: 'ask', source: 'default' };
  expect(resolveExitPolicy({ flag, workspace: policy(workspace), global: policy(global) })).toEqual(expected);
});

test('an ad-hoc directory has no workspace', () => {
  const global = policy('keep');
  expect(resolveExitPolicy({ flag: null, workspace: null, global })).toEqual({
    value: 'keep',
    source: 'global',
  });
});

test.each(VALUES)('a session whose workspace is gone is kept, whatever the global policy is: %s', (value) => {
  const input = { workspace: 'missing', global: policy(value) } as const;
  expect(resolveExitPolicy({ flag: null, ...input })).toEqual({ value: 'keep', source: 'workspace_missing' });
  expect(resolveExitPolicy({ flag: 'clean', ...input })).toEqual({ value: 'clean', source: 'flag' });
});

test('is set and taken out again by an edit of its one key', () => {
  expect(exitPolicyEdit('keep')).toEqual({ path: ['dirty_exit_policy'], set: 'keep' });
  expect(exitPolicyEdit(null)).toEqual({ path: ['dirty_exit_policy'], remove: true });
});
