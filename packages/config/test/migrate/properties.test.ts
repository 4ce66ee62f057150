import { migrateText } from '@jackin/config';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseToml, stampVersion } from '../../src/document/index.ts';
import { chains, type FileKind } from '../../src/migrate/migrate-text.ts';
import { documents } from '../document/documents.ts';

const KINDS = Object.keys(chains) as FileKind[];
const RUNS = { numRuns: 60 };
/** Far more than it takes, for a machine that is busy. */
const LONG_MS = 120_000;

/** Top-level keys that some step owns; the op references of a workspace have a test of their own. */
const OWNED = ['version', 'dirty_exit_policy', 'op_account'];

function others(text: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parseToml(text)).filter(([key]) => !OWNED.includes(key)));
}

describe.each(KINDS)('%s', (kind) => {
  const versions = chains[kind].steps.map(({ from }) => from);

  test(
    'of whatever version: migrating twice is migrating once, and no other key changes',
    () => {
      fc.assert(
        fc.property(documents, fc.constantFrom(...versions), ({ text }, from) => {
          const { version = '' } = parseToml(text);
          fc.pre(typeof version === 'string' && (from !== 'legacy' || version === ''));
          const before = from === 'legacy' ? text : stampVersion(text, from);
          fc.pre(from !== 'legacy' || !('version' in parseToml(text)));
          const once = migrateText(kind, before, 'x.toml');
          expect(once.from).toBe(from);
          expect(others(once.text)).toEqual(others(before));
          const twice = migrateText(kind, once.text, 'x.toml');
          expect(twice.text).toBe(once.text);
          expect(twice.steps).toEqual([]);
        }),
        RUNS,
      );
    },
    LONG_MS,
  );

  test.each(chains[kind].steps)(
    '$from → $to keeps every key it does not own',
    ({ apply }) => {
      fc.assert(
        fc.property(documents, fc.constantFrom('ask', 'keep', 'discard', 'other'), ({ text }, policy) => {
          const own = `dirty_exit_policy = "${policy}" # c\n${text.replace(/^\uFEFF/, '')}`;
          const applied = apply(own);
          expect(others(applied)).toEqual(others(own));
          expect(apply(applied)).toBe(applied);
        }),
        { numRuns: 20 },
      );
    },
    LONG_MS,
  );
});

describe('op_account', () => {
  const value = fc.oneof(
    fc.constantFrom(
      '"plain"',
      '"op://v/i/f"',
      '{ value = "op://v/i/f" }',
      '{ op = "op://v/i/f", account = "own" }',
    ),
    fc.constantFrom(
      '{ op = "op://v/i/f" }',
      '{ op = "op://v/i/f", on_demand = true }',
      '{op="op://v/i/f",later=1}',
    ),
  );
  const env = fc.dictionary(fc.constantFrom('A', 'B', 'a b', 'ü'), value, { maxKeys: 4 });
  const AT = ['env', 'github.env', 'roles.r.env', 'roles.r.github.env', 'roles."a b".env', 'elsewhere.env'];

  test(
    'goes to every reference of the layers that can hold one, and to nothing else',
    () => {
      fc.assert(
        fc.property(
          fc.uniqueArray(fc.tuple(fc.constantFrom(...AT), env), { selector: ([at]) => at }),
          (tables) => {
            const text = tables.map(([at, entries]) =>
              [
                `[${at}]`,
                ...Object.entries(entries).map(([name, one]) => `${JSON.stringify(name)} = ${one} # ${name}`),
              ].join('\n'),
            );
            const before = `version = "v1alpha4"\nop_account = "acme"\n${text.join('\n\n')}\n`;
            const after = migrateText('workspace', before, 'w.toml').text;
            const lines = after.split('\n');
            expect(parseToml(after)).not.toHaveProperty('op_account');
            const bare = /\{ ?op ?= ?"op:\/\/v\/i\/f"(?!.*account)/;
            let table = '';
            let line = 1;
            for (const old of before.split('\n').slice(2)) {
              if (old.startsWith('[')) table = old;
              const now = lines[line++] ?? '';
              if (bare.test(old) && table !== '[elsewhere.env]') {
                expect(now).toMatch(/account = "acme"/);
                expect(now.replace(/,? ?account = "acme"/, '').replaceAll(' ', '')).toBe(
                  old.replaceAll(' ', ''),
                );
              } else {
                expect(now).toBe(old);
              }
            }
          },
        ),
        RUNS,
      );
    },
    LONG_MS,
  );

  test('that is no account is left alone', () => {
    for (const odd of ['op_account = ""', 'op_account = 1', '[op_account]\nx = 1']) {
      const text = `version = "v1alpha4"\n${odd}\n[env]\nA = { op = "op://v/i/f" }\n`;
      expect(migrateText('workspace', text, 'w').text).toBe(text.replace('v1alpha4', 'v1alpha9'));
    }
  });
});

describe('a version', () => {
  test.each(KINDS)('of %s that is newer is refused whatever else the file holds', (kind) => {
    for (const version of ['v1alpha99', 'v1beta1', 'v1', 'v2alpha1']) {
      for (const rest of ['x = 1', 'this = is = no TOML', '[unclosed']) {
        expect(() =>
          migrateText(kind, `\uFEFF# c\r\nversion = '${version}'\r\n${rest}\r\n`, 'f.toml'),
        ).toThrow(
          expect.objectContaining({
            code: 'CONFIG_TOO_NEW',
            message: `f.toml has version "${version}"; this jackin understands up to "${chains[kind].target}".`,
            hint: expect.stringMatching(/upgrade/i),
          }),
        );
      }
    }
  });

  test.each([
    '"1"',
    '"v0"',
    '"v01"',
    '"v1alpha"',
    '"v1alpha01"',
    '"V1"',
    '"legacy"',
    '""',
    '1',
    'true',
    '{}',
    '["v1"]',
  ])('written %s is none', (written) => {
    expect(() => migrateText('config', `a = 1\nversion = ${written}\n`, 'f.toml')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        details: expect.objectContaining({ key: 'version', line: 2 }),
      }),
    );
  });
});
