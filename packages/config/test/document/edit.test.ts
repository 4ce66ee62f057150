import { describe, expect, test } from '@jest/globals';
import { editToml, lineOf, parseToml, type TomlEdit, type TomlPath } from '../../src/document/index.ts';

const set = (path: TomlPath, value: unknown): TomlEdit => ({ path, set: value });
const remove = (...path: TomlPath): TomlEdit => ({ path, remove: true });
const append = (path: TomlPath, value: unknown): TomlEdit => ({ path, append: value });

describe('an edit', () => {
  test.each<[title: string, before: string, edit: TomlEdit, after: string]>([
    ['of a value', 'a  =  1 # c\n', set(['a'], 'x'), 'a  =  "x" # c\n'],
    ['to the value it has', 'a = 0x1 # c\n', set(['a'], 1), 'a = 0x1 # c\n'],
    ['in an empty text', '', set(['a', 'b'], true), '[a]\nb = true\n'],
    ['of a first key', '# head\n\n# about s\n[s]\n', set(['a'], 1), '# head\n\na = 1\n\n# about s\n[s]\n'],
    ['of one more key', 'a = 1\n# tail\n', set(['b'], 2), 'a = 1\nb = 2\n# tail\n'],
    ['without a final newline', 'a = 1', set(['b'], 2), 'a = 1\nb = 2'],
    ['behind a comment without newline', '# c', set(['b'], 2), '# c\nb = 2'],
    ['with CRLF', 'a = 1\r\n[s]\r\n', set(['s', 'b'], 2), 'a = 1\r\n[s]\r\nb = 2\r\n'],
    ['with a byte order mark', '\uFEFFa = 1\n', set(['a'], 2), '\uFEFFa = 2\n'],
    ['in an indented section', '[s]\n  a = 1\n\n[t]\n', set(['s', 'b'], 2), '[s]\n  a = 1\n  b = 2\n\n[t]\n'],
    ['of a section', '[s]\na = 1\n', set(['t', 'b'], 2), '[s]\na = 1\n\n[t]\nb = 2\n'],
    [
      'of a section below one that is there',
      '[s]\na = 1\n\n# about t\n[t]\n',
      set(['s', 'x', 'b'], 2),
      '[s]\na = 1\n\n[s.x]\nb = 2\n\n# about t\n[t]\n',
    ],
    [
      'of a table only deeper headers make',
      '[s.x]\na = 1\n',
      set(['s', 'b'], 2),
      '[s.x]\na = 1\n\n[s]\nb = 2\n',
    ],
    ['in a dotted table', 's.a = 1\nt = 2\n', set(['s', 'b'], 2), 's.a = 1\ns.b = 2\nt = 2\n'],
    [
      'in a dotted table of a section',
      '[q]\ns.a.x = 1\n',
      set(['q', 's', 'a', 'y'], 2),
      '[q]\ns.a.x = 1\ns.a.y = 2\n',
    ],
    ['in an inline table', 's = { a = 1 } # c\n', set(['s', 'b'], 2), 's = { a = 1, b = 2 } # c\n'],
    ['in an empty inline table', 's = {}\n', set(['s', 'b'], 2), 's = { b = 2 }\n'],
    ['deep in an inline table', 's = {a.x=1}\n', set(['s', 'a', 'y'], 2), 's = {a.x=1, a.y = 2}\n'],
    ['of a key to be quoted', '', set(['env', 'a b"'], 'x\n'), '[env]\n"a b\\"" = "x\\n"\n'],
    [
      'of a reference',
      '[env]\n',
      set(['env', 'A'], { op: 'op://v/i/f' }),
      '[env]\nA = { op = "op://v/i/f" }\n',
    ],
    [
      'of a table of tables',
      '',
      set(['roles', 'r'], { git: 'g', env: { A: { value: 'x', on_demand: true } } }),
      '[roles.r]\ngit = "g"\n\n[roles.r.env]\nA = { value = "x", on_demand = true }\n',
    ],
    [
      'of a table, key by key',
      '[s]\na = 1 # c\nb = 2\n',
      set(['s'], { a: 1, c: 3 }),
      '[s]\na = 1 # c\nc = 3\n',
    ],
    ['of an array', 'a = ["x", "y"]\n', append(['a'], 'z'), 'a = ["x", "y", "z"]\n'],
    ['of an array with a last comma', 'a = ["x",]\n', append(['a'], 'z'), 'a = ["x", "z",]\n'],
    [
      'of an array on several lines',
      'a = [\n  "x", # x\n  "y" # y\n]\n',
      append(['a'], 'z'),
      'a = [\n  "x", # x\n  "y", # y\n  "z"\n]\n',
    ],
    ['of an array of comments', 'a = [\n  # none\n]\n', append(['a'], 'z'), 'a = [\n  # none\n  "z"\n]\n'],
    ['of an array that is not there', '[t]\n', append(['a'], 'z'), 'a = ["z"]\n\n[t]\n'],
    [
      'that takes an element out',
      'a = [\n  "x", # x\n  "y", # y\n]\n',
      remove('a', 0),
      'a = [\n  "y", # y\n]\n',
    ],
    [
      'to an array without one element',
      'a = ["x", "y", "z"] # c\n',
      set(['a'], ['x', 'z']),
      'a = ["x", "z"] # c\n',
    ],
    ['that takes the last element out', 'a = ["x", "y"]\n', remove('a', 1), 'a = ["x"]\n'],
    ['that takes the only element out', 'a = [ "x", ]\n', remove('a', 0), 'a = []\n'],
    [
      'of an array of tables',
      '[[m]]\na = 1\n# c\n\n# about s\n[s]\n',
      append(['m'], { a: 2, t: { x: 1 } }),
      '[[m]]\na = 1\n# c\n\n[[m]]\na = 2\nt = { x = 1 }\n\n# about s\n[s]\n',
    ],
    ['of the first of an array of tables', 'a = 1\n', append(['m'], { b: 2 }), 'a = 1\n\n[[m]]\nb = 2\n'],
    [
      'of an inline array of tables',
      'm = [{ a = 1 }]\n',
      append(['m'], { b: 2 }),
      'm = [{ a = 1 }, { b = 2 }]\n',
    ],
    [
      'of a key of an element',
      '[[m]]\na = 1\n\n[[m]]\n',
      set(['m', 0, 'b'], 2),
      '[[m]]\na = 1\nb = 2\n\n[[m]]\n',
    ],
    [
      'of a table of an element',
      '[[m]]\na = 1\n\n[[m]]\n',
      set(['m', 0, 't', 'x'], 2),
      '[[m]]\na = 1\nt.x = 2\n\n[[m]]\n',
    ],
    [
      'that takes an element of tables out',
      '# one\n[[m]]\na = 1\n\n[m.t]\nb = 1\n\n# two\n[[m]]\na = 2\n',
      remove('m', 0),
      '# one\n\n# two\n[[m]]\na = 2\n',
    ],
    ['that empties an array of tables', 'a = 1\n\n[[m]]\nb = 1\n', set(['m'], []), 'a = 1\nm = []\n'],
    ['that removes a key', 'a = 1\n# about b\nb = 2 # b\nc = 3\n', remove('b'), 'a = 1\n# about b\nc = 3\n'],
    [
      'that removes a key and keeps its comment',
      'a = 1\r\n  b = 2 # b\r\n',
      { path: ['b'], remove: true, keepComment: true },
      'a = 1\r\n# b\r\n',
    ],
    ['that removes what is not there', 'a = 1\n', remove('b', 'c'), 'a = 1\n'],
    [
      'that removes a table',
      'a = 1\n\n[s] # s\n# in s\nb = 1\n\n[t]\n\n[s.x]\nc = 1\n',
      remove('s'),
      'a = 1\n\n[t]\n',
    ],
    ['that removes a dotted table', 's.a = 1\nb = 1\ns.c.d = 2\n', remove('s'), 'b = 1\n'],
    ['that removes the last dotted key', 's.a = 1\nb = 1\n', remove('s', 'a'), 'b = 1\n'],
    ['that removes a key of an inline table', 's = { a = 1, b = 2 }\n', remove('s', 'a'), 's = { b = 2 }\n'],
    ['that makes a value of a table', '[s]\na = 1\n\n[t]\n', set(['s'], 1), '\ns = 1\n\n[t]\n'],
    ['that makes a table of a value', 's = 1 # c\n', set(['s'], { a: 1 }), 's = { a = 1 } # c\n'],
  ])('%s', (_title, before, edit, after) => {
    expect(editToml(before, [edit])).toBe(after);
    // Appending again and removing another element are other changes.
    const again = 'append' in edit || edit.path.includes(0) || edit.path.at(-1) === 1;
    if (!again) expect(editToml(after, [edit])).toBe(after);
  });

  test('that does not fit is refused by name and gives nothing', () => {
    for (const edits of [
      [set(['a', 'b'], 1)],
      [append(['a'], 1)],
      [set(['m', 5, 'x'], 1)],
      [set([], 1)],
      [set(['b'], null)],
      [set(['b'], '\uD800')],
      [set(['__proto__', 'x'], 1)],
    ]) {
      expect(() => editToml('a = 1\n[[m]]\n', edits)).toThrow(
        expect.objectContaining({
          code: 'TOML_EDIT_FAILED',
          message: expect.stringContaining(edits[0]?.path.join('.') ?? ''),
        }),
      );
    }
  });

  test('several edits are applied one after the other', () => {
    const edits = [set(['b'], 1), append(['list'], 'x'), append(['list'], 'y'), remove('a'), set(['b'], 2)];
    expect(editToml('a = 1\n', edits)).toBe('b = 2\nlist = ["x", "y"]\n');
  });
});

test('editing one key leaves every other byte of a commented 200-line file as it was', () => {
  const text = longFile();
  const lines = text.split('\n');
  expect(lines.length).toBeGreaterThan(200);
  const line = lines.findIndex((content) => content.includes('VAR_12 ')) + 1;
  expect(lineOf(text, ['roles', 'role-4', 'env', 'VAR_12'])).toBe(line);
  const edited = editToml(text, [set(['roles', 'role-4', 'env', 'VAR_12'], 'changed')]);
  const after = edited.split('\n');
  expect(after).toHaveLength(lines.length);
  for (const [index, content] of lines.entries()) {
    if (index + 1 !== line) expect(after[index]).toBe(content);
  }
  expect(after[line - 1]).toBe('    VAR_12  =  "changed"    # number 12, "quoted" # twice\r');
  expect(parseToml(edited)).toMatchObject({
    roles: { 'role-4': { env: { VAR_12: 'changed', VAR_13: 'värde 13' } } },
  });
});

/** Mixed line ends, odd spacing, comments everywhere: what hands and other tools leave behind. */
function longFile(): string {
  const lines = ['\uFEFF# configuration of ä machine', '', 'version = "v1alpha9"   # do not touch', '\t', ''];
  for (let role = 1; role <= 8; role += 1) {
    lines.push(
      `# --- role ${role} ---`,
      `[ roles . "role-${role}" ]\t# header`,
      `git="https://example.test/${role}.git"`,
    );
    lines.push('tags = [ # list', '  "a", # first', '  # between', '  "b"', ']', '');
    lines.push(`    [roles.role-${role}.env]`, '    # variables', '');
    for (let one = 1; one <= 5; one += 1) {
      const number = (role - 2) * 5 + one;
      lines.push(
        `    VAR_${number}  =  "värde ${number}"    # number ${number}, "quoted" # twice\r`,
        '    # VAR_OFF = 1',
      );
    }
    lines.push('text = """', '# no comment', '[no.section]', '  trailing  ', '"""', '', '');
  }
  return `${lines.join('\n')}# the end, without a newline`;
}

describe('the line of', () => {
  const text =
    'a = 1\n\n[s.x] # c\nb = [\n  1,\n  { c = 2 },\n]\ne.f.g = 1\n[[m]]\n[[m]]\nd = """\n\n"""\nz = 1\n';
  test.each<[TomlPath, number | null]>([
    [['a'], 1],
    [['s'], 3],
    [['s', 'x'], 3],
    [['s', 'x', 'b'], 4],
    [['s', 'x', 'b', 1], 6],
    [['s', 'x', 'b', 1, 'c'], 6],
    [['s', 'x', 'e'], 8],
    [['s', 'x', 'e', 'f', 'g'], 8],
    [['m'], 9],
    [['m', 1], 10],
    [['m', 1, 'd'], 11],
    [['m', 1, 'z'], 14],
    [['m', 2], null],
    [['nothing'], null],
    [['a', 'b'], null],
    [[], null],
  ])('%j is %j', (path, line) => {
    expect(lineOf(text, path)).toBe(line);
    expect(lineOf(`\uFEFF${text.replaceAll('\n', '\r\n')}`, path)).toBe(line);
  });

  test('anything in a text that is not TOML is not known', () => {
    expect(lineOf('a = = 1', ['a'])).toBeNull();
  });
});
