import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editToml, lineOf, parseToml, stampVersion, type TomlPath } from '../../src/document/index.ts';
import { BOM, documents, linesIn, newValue } from './documents.ts';

const RUNS = { numRuns: 100 };
/** Far more than it takes, for a machine that is busy. */
const LONG_MS = 120_000;
const at = (value: unknown, path: TomlPath): unknown =>
  path.reduce<any>((found, part) => found?.[part], value);

/** Whether `part` is `whole` with lines left out. */
function isPart(part: string[], whole: string[]): boolean {
  let from = 0;
  return part.every((line) => {
    const found = whole.indexOf(line, from);
    from = found + 1;
    return found !== -1;
  });
}

describe('whatever the document', () => {
  test(
    'every value is found on the line it is written on',
    () => {
      fc.assert(
        fc.property(documents, ({ text, values }) => {
          const meaning = parseToml(text);
          for (const { path, lines, value } of values) {
            expect([path, at(meaning, path)]).toEqual([path, value]);
            expect([path, lineOf(text, path)]).toEqual([path, lines[0]]);
          }
        }),
        RUNS,
      );
    },
    LONG_MS,
  );

  test(
    'setting a value changes the lines it is written on and no other byte',
    () => {
      fc.assert(
        fc.property(documents, newValue, fc.nat(), ({ text, values }, value, pick) => {
          fc.pre(values.length > 0);
          const { path, lines } = values[pick % values.length] as (typeof values)[number];
          const edited = editToml(text, [{ path, set: value }]);
          expect(at(parseToml(edited), path)).toEqual(value);
          const [before, after] = [linesIn(text), linesIn(edited)];
          expect(after.slice(0, lines[0] - 1)).toEqual(before.slice(0, lines[0] - 1));
          const rest = before.slice(lines[1]);
          expect(after.slice(after.length - rest.length)).toEqual(rest);
        }),
        RUNS,
      );
    },
    LONG_MS,
  );

  test(
    'setting a new key adds lines and keeps every old one',
    () => {
      fc.assert(
        fc.property(documents, newValue, fc.nat(), ({ text, tables }, value, pick) => {
          const table = tables[pick % tables.length] as TomlPath;
          const path = [...table, 'brand new'];
          const edited = editToml(text, [{ path, set: value }]);
          expect(at(parseToml(edited), path)).toEqual(value);
          expect(isPart(linesIn(text), linesIn(edited))).toBe(true);
          expect(edited.startsWith(BOM)).toBe(text.startsWith(BOM));
          if (linesIn(text).join('') !== '') expect(edited.endsWith('\n')).toBe(text.endsWith('\n'));
          // What was put there can be taken out again, and only that.
          const back = editToml(edited, [{ path, remove: true }]);
          expect(parseToml(back)).toEqual(parseToml(text));
          const written = (lines: string[]) => lines.filter((line) => line.trim() !== '');
          expect(written(linesIn(back))).toEqual(written(linesIn(text)));
        }),
        RUNS,
      );
    },
    LONG_MS,
  );

  test(
    'removing a value takes out the lines it is written on and no other',
    () => {
      fc.assert(
        fc.property(documents, fc.nat(), ({ text, values }, pick) => {
          fc.pre(values.length > 0);
          const { path, lines } = values[pick % values.length] as (typeof values)[number];
          const edited = editToml(text, [{ path, remove: true }]);
          expect(at(parseToml(edited), path)).toBeUndefined();
          const kept = linesIn(text).filter((_, index) => index + 1 < lines[0] || index + 1 > lines[1]);
          expect(edited.startsWith(BOM)).toBe(text.startsWith(BOM));
          expect(linesIn(edited).join('').trimEnd()).toBe(kept.join('').trimEnd());
        }),
        RUNS,
      );
    },
    LONG_MS,
  );

  test(
    'a version is stamped as the first key, and everything else is still there',
    () => {
      fc.assert(
        fc.property(documents, ({ text, values }) => {
          fc.pre(!(typeof parseToml(text).version === 'object'));
          const stamped = stampVersion(text, 'v1alpha9');
          expect(parseToml(stamped)).toEqual({ ...parseToml(text), version: 'v1alpha9' });
          for (const { path } of values.filter(({ path }) => path[0] !== 'version')) {
            expect(lineOf(stamped, path)).toBeGreaterThan(lineOf(stamped, ['version']) as number);
          }
          expect(stampVersion(stamped, 'v1alpha9')).toBe(stamped);
          const comments = (from: string) =>
            linesIn(from).filter((line) => /^\s*# (a comment|indented|ü)/.test(line));
          expect(comments(stamped).sort()).toEqual(comments(text).sort());
        }),
        RUNS,
      );
    },
    LONG_MS,
  );
});
