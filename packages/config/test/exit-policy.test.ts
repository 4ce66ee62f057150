import { resolveExitPolicy } from '@jackin/config';
import { expect, test } from '@jest/globals';

const VALUES = [undefined, 'ask', 'keep', 'clean', 'discard'] as const;
const FLAGS = [null, 'keep', 'clean'] as const;
const cases = FLAGS.flatMap((flag) =>
  VALUES.flatMap((workspace) => VALUES.map((global) => ({ flag, workspace, global }))),
);
const policy = (value: (typeof VALUES)[number]) => (value === undefined ? {} : { dirty_exit_policy: value });
const now = (value: string) => (value === 'discard' ? 'clean' : value);

test.each(cases)('flag $flag, workspace $workspace, global $global', ({ flag, workspace, global }) => {
  const expected =
    flag !== null
      ? { value: flag, source: 'flag' }
      : workspace !== undefined
        ? { value: now(workspace), source: 'workspace' }
        : global !== undefined
          ? { value: now(global), source: 'global' }
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
