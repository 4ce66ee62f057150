import { createHash } from 'node:crypto';
import { baseName, derivedNames, instanceIdOf, workdirFingerprint } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const ID = 'k7p9m2xq';
const hash4 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 4);
const id = fc
  .array(fc.constantFrom(...'0123456789abcdefghjkmnpqrstvwxyz'), { minLength: 8, maxLength: 8 })
  .map((characters) => characters.join(''));

describe('baseName', () => {
  test.each([
    [
      'the documented example',
      'chainargos-project',
      'chainargos/agent-brown',
      'chainargosproject-agentbrown',
    ],
    ['case and punctuation are dropped', 'My Project!', 'The_Architect', 'myproject-thearchitect'],
    ['letters outside ASCII are dropped, not transliterated', 'Größe', 'café', 'gre-caf'],
    ['a letter whose lower case is ASCII is still not ASCII', '\u212Aube', 'x\u0130y', 'ube-xy'],
    ['an empty workspace has a name', '', 'smith', 'workspace-smith'],
    ['what becomes empty has a name', '—', '日本', 'workspace-role'],
    ['an ad-hoc directory has no workspace part', null, 'acme/shell', 'shell'],
    ['a role key that ends with its namespace has an empty name', null, 'acme/', 'role'],
    ['together they may be 45 long', 'w'.repeat(40), 'r'.repeat(5), `${'w'.repeat(40)}-${'r'.repeat(5)}`],
    [
      'one more and the long one is cut',
      'w'.repeat(41),
      'r'.repeat(5),
      `${'w'.repeat(18)}${hash4('w'.repeat(41))}-${'r'.repeat(5)}`,
    ],
    [
      'both are cut when both are over their share',
      'w'.repeat(30),
      'r'.repeat(30),
      `${'w'.repeat(18)}${hash4('w'.repeat(30))}-${'r'.repeat(19)}${hash4('r'.repeat(30))}`,
    ],
    ['a component of exactly its share is left alone', 'w'.repeat(22), 'r'.repeat(24), null],
    ['an ad-hoc role may be 46 long', null, 'r'.repeat(46), 'r'.repeat(46)],
    ['and is cut after that', null, 'r'.repeat(47), `${'r'.repeat(42)}${hash4('r'.repeat(47))}`],
  ])('%s', (_title, workspace, role, expected) => {
    const wanted = expected ?? `${'w'.repeat(22)}-${'r'.repeat(19)}${hash4('r'.repeat(24))}`;
    expect(baseName({ instanceId: ID, workspace, role })).toBe(`jk-${ID}-${wanted}`);
  });

  test('every name is a DNS label with room for the sidecar, says its id, and is the same again', () => {
    fc.assert(
      fc.property(
        id,
        fc.option(fc.string({ unit: 'binary' })),
        fc.string({ unit: 'binary' }),
        (instanceId, workspace, role) => {
          const base = baseName({ instanceId, workspace, role });
          expect(base.length).toBeLessThanOrEqual(58);
          expect(derivedNames(base).sidecar.length).toBeLessThanOrEqual(63);
          expect(base).toMatch(/^[a-z0-9]+(-[a-z0-9]+){2,3}$/);
          expect(base.split('-').length).toBe(workspace === null ? 3 : 4);
          expect(instanceIdOf(base)).toBe(instanceId);
          expect(baseName({ instanceId, workspace, role })).toBe(base);
        },
      ),
    );
  });

  test('two long names that differ only behind the cut stay apart', () => {
    const long = fc.stringMatching(/^[a-z0-9]{47,80}$/);
    fc.assert(
      fc.property(long, long, (one, two) => {
        fc.pre(hash4(one) !== hash4(two));
        const shared = 'x'.repeat(50);
        const name = (role: string) => baseName({ instanceId: ID, workspace: null, role: shared + role });
        fc.pre(hash4(shared + one) !== hash4(shared + two));
        expect(name(one)).not.toBe(name(two));
      }),
    );
  });

  test('an id that is not ours is a programming error', () => {
    for (const instanceId of ['', 'short', 'K7P9M2XQ', 'k7p9m2xi', 'k7p9m2x/', 'k7p9m2xqq']) {
      expect(() => baseName({ instanceId, workspace: null, role: 'x' })).toThrow(RangeError);
    }
  });
});

test('what belongs to an instance in an engine is named after it', () => {
  expect(derivedNames('jk-k7p9m2xq-p-r')).toEqual({
    container: 'jk-k7p9m2xq-p-r',
    sidecar: 'jk-k7p9m2xq-p-r-dind',
    network: 'jk-k7p9m2xq-p-r-net',
    certsVolume: 'jk-k7p9m2xq-p-r-dind-certs',
  });
});

test('a fingerprint is the SHA-256 of the path', () => {
  expect(workdirFingerprint('foo')).toBe(
    'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  );
});

test.each([
  '',
  'jk-',
  'jk-k7p9m2xq',
  'jk-k7p9m2xq-',
  'jk-k7p9m2xq-../x',
  'jk-k7p9m2xq-a-b-c',
  'xk-k7p9m2xq-a',
  `jk-k7p9m2xq-${'a'.repeat(47)}`,
])('%j is not a base name', (text) => {
  expect(instanceIdOf(text)).toBeNull();
});
