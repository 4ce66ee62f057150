import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { extractTable, parseToml, stampVersion } from '../../src/document/index.ts';
import { documents, linesIn } from './documents.ts';

const PATH = ['workspaces', 'one'];

describe('a table taken out of a text', () => {
  test('becomes a text of its own, with its comments', () => {
    const text = [
      '\uFEFFversion = "v1alpha2" # v',
      '',
      '# the first',
      '[workspaces.one] # one',
      'workdir = "/w" # w',
      '# of the mounts',
      '[[workspaces.one.mounts]]',
      'src = "/s"',
      '',
      '# the second',
      '[workspaces."two two"]',
      'workdir = "/v"',
      '# left over',
      '',
      '[ workspaces . one . env ] # variables',
      'A = "1"',
      '',
      '# at the end',
      '[env]',
      'B = "2"',
      '',
    ].join('\r\n');
    expect(extractTable(text, PATH)).toEqual({
      table: [
        '# the first',
        '# one',
        'workdir = "/w" # w',
        '# of the mounts',
        '[[mounts]]',
        'src = "/s"',
        '',
        '[ env ] # variables',
        'A = "1"',
        '',
      ].join('\r\n'),
      rest: [
        '\uFEFFversion = "v1alpha2" # v',
        '',
        '# the second',
        '[workspaces."two two"]',
        'workdir = "/v"',
        '# left over',
        '',
        '# at the end',
        '[env]',
        'B = "2"',
        '',
      ].join('\r\n'),
    });
  });

  test.each([
    [
      'an inline table',
      '[workspaces] # whole\n# a\none = { workdir = "/w", env = { A = "1" } } # b\n[env]\n',
    ],
    [
      'dotted keys',
      'workspaces.one.workdir = "/w" # b\n# a\nworkspaces.one.env.A = "1"\n[workspaces.two] # whole\n',
    ],
    [
      'headers out of order',
      '[workspaces.one.env]\nA = "1" # b\n[workspaces.two]\n# whole\n# a\n[workspaces.one]\nworkdir = "/w"',
    ],
    ['headers below only', '[[workspaces.one.mounts]] # a\n# b\nworkdir = "/w"\n# whole\n\n[env]\nA = "1"\n'],
  ])('is the same from %s, and no comment is lost', (_title, text) => {
    const { rest, table } = extractTable(text, PATH);
    const { workspaces, ...others } = parseToml(text) as { workspaces: { one: unknown; two?: unknown } };
    expect(parseToml(table)).toEqual(workspaces.one);
    const { one: _taken, ...left } = workspaces;
    const remaining = parseToml(rest);
    expect({ ...remaining, workspaces: remaining.workspaces ?? {} }).toEqual({ ...others, workspaces: left });
    for (const comment of ['# a', '# b', '# whole'].filter((one) => text.includes(one))) {
      expect(`${rest}\n${table}`.split(comment)).toHaveLength(2);
    }
  });

  test('that is not there or is no table is refused', () => {
    for (const text of ['a = 1\n', '[workspaces]\none = 1\n']) {
      expect(() => extractTable(text, PATH)).toThrow(expect.objectContaining({ code: 'TOML_EDIT_FAILED' }));
    }
  });

  test('together with the rest is all there was, whatever the document', () => {
    fc.assert(
      fc.property(documents, fc.nat(), ({ text, tables }, pick) => {
        const names = tables.filter(
          (path): path is string[] => path.length > 0 && path.every((part) => typeof part === 'string'),
        );
        fc.pre(names.length > 0);
        const path = names[pick % names.length] as string[];
        const { rest, table } = extractTable(text, path);
        const at = (value: unknown) => path.reduce<any>((found, part) => found?.[part], value);
        expect(parseToml(table)).toEqual(at(parseToml(text)));
        expect(at(parseToml(rest))).toBeUndefined();
        const comments = (of: string) =>
          linesIn(of)
            .filter((line) => /# (a comment|indented|ü|far)/.test(line))
            .map((line) => line.replace(/^.*#/, '#').trimEnd());
        expect([...comments(rest), ...comments(table)].sort()).toEqual(comments(text).sort());
      }),
      { numRuns: 150 },
    );
  });

  test('a version can be put before it', () => {
    expect(stampVersion(extractTable('[workspaces.one]\nworkdir = "/w"\n', PATH).table, 'v1alpha3')).toBe(
      'version = "v1alpha3"\nworkdir = "/w"\n',
    );
  });
});
