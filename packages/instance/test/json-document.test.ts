import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyChange, formatJsonNode, parseJsonNode } from '../src/store/json-document.ts';

const rewrite = (text: string, change: (value: any) => unknown = (value) => value) => {
  const before = JSON.parse(text);
  return formatJsonNode(applyChange(parseJsonNode(text), before, change(structuredClone(before))));
};

describe('JSON as it was written', () => {
  test('any document is formatted as JSON.stringify does it, with a newline at the end', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(4), (text, indent) => {
        const value = JSON.parse(text);
        const spaced = JSON.stringify(value, null, indent);
        expect(rewrite(spaced)).toBe(`${JSON.stringify(value, null, 2)}\n`);
      }),
    );
  });

  test('whatever is changed, reading it again gives exactly the changed value', () => {
    const json = fc.jsonValue();
    fc.assert(
      fc.property(json, json, (one, two) => {
        const [before, after] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(two))];
        const text = formatJsonNode(applyChange(parseJsonNode(JSON.stringify(before)), before, after));
        expect(JSON.parse(text)).toEqual(after);
      }),
    );
  });

  test.each([
    ['a number that no double holds', '{"n": 12345678901234567890.10, "s": 1}', '12345678901234567890.10'],
    ['a float that looks like an integer', '{"n": 1.0, "s": 1}', '1.0'],
    ['an escape', '{"n": "\\u00e9\\/", "s": 1}', '"\\u00e9\\/"'],
    ['a lone surrogate', '{"n": "\\ud800", "s": 1}', '"\\ud800"'],
    ['an unsafe name', '{"__proto__": {"a": 1.0}, "s": 1}', '"__proto__": {\n    "a": 1.0'],
  ])('%s survives a change next to it', (_title, text, kept) => {
    const result = rewrite(text, (value) => ({ ...value, s: 2 }));
    expect(result).toContain(kept);
    expect(JSON.parse(result).s).toBe(2);
  });

  test('members keep their order, number-like names too, and new ones come last', () => {
    const result = rewrite('{"b": 1, "10": {"z": 1, "2": 1}, "a": 1}', (value) => ({
      new: true,
      ...value,
      b: 2,
      10: { ...value[10], z: 3 },
    }));
    expect([...result.matchAll(/"(\w+)":/g)].map((match) => match[1])).toEqual([
      'b',
      '10',
      'z',
      '2',
      'a',
      'new',
    ]);
  });

  test('a member set to undefined goes, a default filled in by reading is not added', () => {
    const node = parseJsonNode('{"keep": 1, "gone": {"x": 1}}');
    const before = { keep: 1, gone: { x: 1 }, filled: [] };
    const after = { keep: 1, gone: undefined, filled: [], added: null };
    expect(JSON.parse(formatJsonNode(applyChange(node, before, after)))).toEqual({ keep: 1, added: null });
  });

  test.each(['valueOf', 'toString', '__proto__', 'constructor'])(
    'a member named %s, as something inherited is, comes and goes like any other',
    (name) => {
      const without = JSON.stringify({ b: 1 });
      const withIt = JSON.stringify({ b: 1, x: 2 }).replace('x', name);
      const rewritten = (from: string, to: string) =>
        formatJsonNode(applyChange(parseJsonNode(from), JSON.parse(from), JSON.parse(to)));
      expect(rewritten(without, withIt)).toBe(`{\n  "b": 1,\n  "${name}": 2\n}\n`);
      expect(rewritten(withIt, without)).toBe('{\n  "b": 1\n}\n');
    },
  );

  test('nesting that would exhaust the stack is refused', () => {
    expect(() => parseJsonNode('['.repeat(100_000) + ']'.repeat(100_000))).toThrow(SyntaxError);
  });
});
