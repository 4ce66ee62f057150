import { credentialStoreOf, parseMount } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mountIssues } from '../src/mounts.ts';

const BASE = { cwd: '/cwd', home: '/home/op' };

describe('parseMount', () => {
  test.each<[string, string, string, boolean]>([
    ['/a', '/a', '/a', false],
    ['/a:ro', '/a', '/a', true],
    ['a', '/cwd/a', '/cwd/a', false],
    ['./a/../b', '/cwd/b', '/cwd/b', false],
    ['..', '/', '/', false],
    ['~', '/home/op', '/home/op', false],
    ['~/a:ro', '/home/op/a', '/home/op/a', true],
    ['~other', '/cwd/~other', '/cwd/~other', false],
    ['a:/w', '/cwd/a', '/w', false],
    ['~/a:/w/./x/..:ro', '/home/op/a', '/w', true],
    ['/a:~/b', '/a', '/home/op/b', false],
    ['ro', '/cwd/ro', '/cwd/ro', false],
    ['ro:ro', '/cwd/ro', '/cwd/ro', true],
    ['a b:/c d', '/cwd/a b', '/c d', false],
  ])('%s', (text, src, dst, readonly) => {
    expect(parseMount(text, BASE)).toEqual({ src, dst, isolation: 'shared', readonly });
  });

  test.each(['', ':ro', ':/w', 'a:b', 'a:rw', 'a:b:ro', 'a:/b:c', '/a:/b:/c', 'a:ro:ro'])(
    'refuses %j and names it',
    (text) => {
      expect(() => parseMount(text, BASE)).toThrow(
        expect.objectContaining({
          code: 'MOUNT_INVALID',
          message: expect.stringContaining(JSON.stringify(text)),
        }),
      );
    },
  );

  test('whatever is accepted is absolute and normalised', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '.', '/', ':', '~', 'r', 'o', ' ') });
    fc.assert(
      fc.property(text, (input) => {
        let mount: ReturnType<typeof parseMount>;
        try {
          mount = parseMount(input, BASE);
        } catch (error) {
          expect(error).toMatchObject({ code: 'MOUNT_INVALID' });
          return;
        }
        for (const path of [mount.src, mount.dst]) expect(path).toMatch(/^\/(?!.*(\/\/|\/\.\.?(\/|$)))/);
      }),
    );
  });
});

test.each([
  ['/home/op/.ssh', '.ssh'],
  ['/home/op/.ssh/keys', '.ssh'],
  ['/home/op/.config/gcloud/x', '.config/gcloud'],
  ['/home/op/.npmrc', '.npmrc'],
  ['/home/op/.sshx', null],
  ['/home/op/.config', null],
  ['~/.aws', '.aws'],
  ['/home/op/proj', null],
])('the credential store of %s is %s', (src, store) => {
  expect(credentialStoreOf(src)).toBe(store);
});

describe('mount rules', () => {
  const mount = (dst: string, isolation: 'shared' | 'worktree' | 'clone' = 'shared', src = `/src${dst}`) => ({
    src,
    dst,
    isolation,
    readonly: false,
  });
  test.each([
    ['a workdir at a mount', '/w', [mount('/w')], []],
    ['a workdir inside a mount', '/w/x', [mount('/w')], []],
    ['a workdir around mounts', '/w', [mount('/w/a'), mount('/w/b', 'worktree')], []],
    ['a workdir beside every mount', '/work', [mount('/w')], [/workdir: "\/work" is in no mount/]],
    ['no mounts', '/w', [], [/is in no mount/]],
    ['a relative workdir', 'w', [mount('/w')], [/workdir: "w" is not an absolute/]],
    ['relative mounts', '/w', [mount('/w'), mount('x', 'shared', 'y')], [/mounts\.1\.src/, /mounts\.1\.dst/]],
    ['one place twice', '/w', [mount('/w'), mount('/w/', 'shared', '/other')], [/two mounts at "\/w\/"/]],
    [
      'isolated inside isolated',
      '/w',
      [mount('/w', 'worktree'), mount('/w/x', 'clone')],
      [/inside each other/],
    ],
    ['shared inside isolated', '/w', [mount('/w', 'worktree'), mount('/w/x')], []],
    [
      'two worktrees of one source',
      '/w',
      [mount('/w', 'worktree', '/r'), mount('/v', 'worktree', '/r/')],
      [/share/],
    ],
    ['a worktree and a clone of it', '/w', [mount('/w', 'worktree', '/r'), mount('/v', 'clone', '/r')], []],
    ['isolated credentials', '/w', [mount('/w', 'clone', '~/.ssh')], [/holds credentials \(\.ssh\)/]],
    ['shared credentials', '/w', [mount('/w', 'shared', '~/.ssh')], []],
  ])('%s', (_title, workdir, mounts, expected) => {
    const issues = mountIssues({ workdir, mounts }).map(({ path, reason }) => `${path.join('.')}: ${reason}`);
    expect(issues).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });
});
