import { describe, expect, test } from '@jest/globals';
import {
  type ContainerUserInput,
  capsuleOwner,
  containerUser,
  decideContainerUser,
  userText,
} from '../../src/index.ts';

const root = { uid: 0, gid: 0 };
const me = { uid: 1001, gid: 100 };
const other = { uid: 1005, gid: 1005 };
const shared = (owner: typeof root, src = '/src') => ({ src, isolation: 'shared' as const, owner });
const clone = (owner: typeof root, src = '/tree') => ({ src, isolation: 'clone' as const, owner });
const shell = { id: 'shell', refusesRoot: false };
const claude = { id: 'claude', refusesRoot: true };

const ROWS: [string, Omit<ContainerUserInput, 'rootless'>, string][] = [
  ['my own directory', { mounts: [shared(me)], agent: claude, host: me }, '1001:100'],
  [
    "root's directory, an agent that may be root",
    { mounts: [shared(root)], agent: shell, host: root },
    '0:0',
  ],
  [
    "root's shared directory, an agent that refuses root",
    { mounts: [shared(root)], agent: claude, host: root },
    'ROOT_SOURCE',
  ],
  [
    "a tree of the instance's own, an agent that refuses root",
    { mounts: [clone(root)], agent: claude, host: root },
    '1000:1000',
  ],
  [
    "a tree of its own beside root's shared directory",
    { mounts: [clone(root), shared(root, '/etc')], agent: claude, host: root },
    'ROOT_SOURCE',
  ],
  [
    "a tree of its own beside somebody's shared directory",
    { mounts: [clone(root), shared(me)], agent: claude, host: root },
    '1000:1000',
  ],
  [
    "somebody's directory, jackin is root",
    { mounts: [shared(other)], agent: claude, host: root },
    '1005:1005',
  ],
  [
    "somebody's directory, jackin is not root",
    { mounts: [shared(other)], agent: shell, host: me },
    'USER_MISMATCH',
  ],
  [
    "root's directory, jackin is not root",
    { mounts: [shared(root)], agent: shell, host: me },
    'USER_MISMATCH',
  ],
  [
    'the first of two mounts decides',
    { mounts: [shared(me), shared(other)], agent: shell, host: root },
    '1001:100',
  ],
  ['no mount at all: who runs jackin', { mounts: [], agent: shell, host: me }, '1001:100'],
];

describe('the user of a container', () => {
  test.each(ROWS)('%s', (_title, input, expected) => {
    const decided = decideContainerUser({ ...input, rootless: false });
    const told = decided.outcome === 'user' ? userText(decided.owner) : decided.error.code;
    expect(told).toBe(expected);
    if (decided.outcome !== 'refused') return;
    expect(decided.error.message).toMatch(/\/(src|etc) belongs to/);
    expect(decided.error.hint).toContain('chown -R');
  });

  test.each([
    [
      'my directory: root there, which is me',
      { mounts: [shared(me)], agent: shell, host: me },
      '0:0 is 1001:100',
    ],
    ['no mount at all', { mounts: [], agent: shell, host: me }, '0:0 is 1001:100'],
    ['an agent that refuses root', { mounts: [shared(me)], agent: claude, host: me }, 'ROOTLESS_AGENT'],
    ["somebody's directory", { mounts: [shared(other)], agent: shell, host: me }, 'USER_MISMATCH'],
    ["root's directory", { mounts: [clone(root)], agent: shell, host: me }, 'USER_MISMATCH'],
    [
      "somebody's directory, jackin is root",
      { mounts: [shared(me)], agent: shell, host: root },
      'ROOTLESS_ENGINE',
    ],
  ] as [string, Omit<ContainerUserInput, 'rootless'>, string][])(
    'on a rootless engine: %s',
    (_title, input, expected) => {
      const decided = decideContainerUser({ ...input, rootless: true });
      const told =
        decided.outcome === 'refused'
          ? decided.error.code
          : [decided.owner, ...(decided.outside === undefined ? [] : [decided.outside])]
              .map(userText)
              .join(' is ');
      expect(told).toBe(expected);
    },
  );

  test('the directories of an instance belong to who its user is outside', () => {
    const run = { user: '0:0', host_user: '1001:100', limits: {} };
    const rootless = { recipe: { backend: 'docker', run } } as unknown as Parameters<typeof capsuleOwner>[0];
    expect(capsuleOwner(rootless)).toEqual(me);
    expect(containerUser(rootless.recipe)).toEqual(root);
  });

  const recipe = (user: string | null, backend: 'docker' | 'standalone' = 'docker') =>
    ({ recipe: { backend, run: { user, limits: {} } } }) as unknown as Parameters<typeof capsuleOwner>[0];

  test.each([
    ['1000:100', { uid: 1000, gid: 100 }],
    ['0:0', root],
    [null, undefined],
    ['agent', undefined],
    ['1000', undefined],
  ])('a recipe that says %s gives the directories of its instance to %j', (user, owner) => {
    expect(capsuleOwner(recipe(user))).toEqual(owner);
  });

  test('a process of this machine keeps its directories, whatever a recipe says', () => {
    expect(capsuleOwner(recipe('1000:1000', 'standalone'))).toBeUndefined();
    expect(capsuleOwner({})).toBeUndefined();
  });
});
