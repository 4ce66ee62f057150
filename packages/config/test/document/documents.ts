import fc from 'fast-check';

/** A random TOML text together with where each of its values is written. */
export interface RandomDocument {
  text: string;
  values: { path: (string | number)[]; lines: [first: number, last: number]; value: unknown }[];
  /** Paths of tables that a new key can be set in. */
  tables: (string | number)[][];
}

interface Written {
  text: string;
  value: unknown;
}

const WORDS = ['a', 'b', 'env', 'x-y', 'NAME', '0', 'äöü', 'with space', 'dot.ted', '', '"', 'version'];
const bareOrQuoted = (key: string) =>
  /^[A-Za-z0-9_-]+$/.test(key)
    ? fc.constantFrom(key, JSON.stringify(key), `'${key}'`)
    : fc.constant(JSON.stringify(key));

const inlineText = fc.constantFrom<Written>(
  { text: '"plain"', value: 'plain' },
  { text: '"has # no comment, and = no key"', value: 'has # no comment, and = no key' },
  { text: "'lit\\eral'", value: 'lit\\eral' },
  { text: '"\\u00e9 \\"q\\" ü😀"', value: 'é "q" ü😀' },
  { text: '"]}"', value: ']}' },
);
const scalar: fc.Arbitrary<Written> = fc.oneof(
  inlineText,
  fc.constantFrom<Written>(
    { text: '42', value: 42 },
    { text: '0x2A', value: 42 },
    { text: '1_000', value: 1000 },
    { text: '-0.5e1', value: -5 },
    { text: 'true', value: true },
    { text: '99999999999999999999', value: 99999999999999999999n },
  ),
);
const multiLine = (eol: string) =>
  fc.constantFrom<Written>(
    { text: `"""${eol}# not a comment${eol}[neither]"""`, value: `# not a comment${eol}[neither]` },
    { text: `'''${eol}a = 1${eol}# x'''`, value: `a = 1${eol}# x` },
    { text: `"""one \\${eol}   two"""`, value: 'one two' },
  );
const list = (eol: string): fc.Arbitrary<Written> =>
  fc
    .tuple(fc.array(scalar, { maxLength: 3 }), fc.constantFrom('', ' ', eol), fc.boolean(), fc.boolean())
    .map(([items, space, comma, comments]) => {
      const broken = space === eol;
      const note = comments && broken ? ' # note, [1' : '';
      const texts = items.map(({ text }, index) => {
        const last = index === items.length - 1;
        return `${broken ? '  ' : ''}${text}${last && !comma ? '' : ','}${note}${space}`;
      });
      const head = broken ? `${note}${eol}` : space;
      return { text: `[${head}${texts.join('')}]`, value: items.map(({ value }) => value) };
    });
const inlineTable: fc.Arbitrary<Written> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...WORDS), scalar), { selector: ([key]) => key, maxLength: 3 })
  .map((entries) => ({
    text: `{${entries.map(([key, { text }]) => ` ${JSON.stringify(key)}=${text}`).join(' ,')} }`,
    value: Object.fromEntries(entries.map(([key, { value }]) => [key, value])),
  }));
const anyValue = (eol: string) => fc.oneof(scalar, scalar, multiLine(eol), list(eol), inlineTable);

const filler = fc.array(fc.constantFrom('', '# a comment', '   # indented, a = 1', '\t', '# ü [x]'), {
  maxLength: 3,
});
const tail = fc.constantFrom('', ' ', '# close', '   # far, with "quotes"');

const rows = (eol: string, prefix: string[]) =>
  fc
    .uniqueArray(fc.constantFrom(...WORDS), { maxLength: 4 })
    .chain((keys) =>
      fc.tuple(
        ...keys.map((key) =>
          fc.record({
            key: fc.constant(key),
            written: bareOrQuoted(key),
            dotted: fc.option(fc.constantFrom('q', 'r s'), { freq: 3 }),
            value: anyValue(eol),
            before: filler,
            after: tail,
            indent: fc.constantFrom('', '', '  ', '\t'),
            equals: fc.constantFrom('=', ' = ', '   =  '),
          }),
        ),
      ),
    )
    .map((entries) =>
      entries.map(({ key, written, dotted, value, before, after, indent, equals }) => ({
        before,
        path: [...prefix, key, ...(dotted === null ? [] : [dotted])],
        text: `${indent}${written}${dotted === null ? '' : ` . ${JSON.stringify(dotted)}`}${equals}${value.text} ${after}`,
        value: value.value,
      })),
    );

const NAMES = [['s'], ['s', 'sub'], ['other'], ['deep', 'er'], ['q q', 'x'], ['s', 'list']];

export const documents: fc.Arbitrary<RandomDocument> = fc
  .record({ eol: fc.constantFrom('\n', '\r\n'), bom: fc.boolean(), final: fc.boolean() })
  .chain(({ eol, bom, final }) =>
    fc
      .record({
        root: rows(eol, []),
        sections: fc
          .uniqueArray(fc.constantFrom(...NAMES), { selector: String, maxLength: 4 })
          .chain((names) =>
            fc.tuple(
              ...names.map((name) =>
                fc.record({ name: fc.constant(name), rows: rows(eol, name), before: filler, after: tail }),
              ),
            ),
          ),
        elements: fc.array(fc.record({ rows: rows(eol, []), before: filler, after: tail }), { maxLength: 3 }),
        end: filler,
      })
      .map(({ root, sections, elements, end }) => {
        const lines: string[] = [];
        const values: RandomDocument['values'] = [];
        const tables: RandomDocument['tables'] = [[]];
        const put = (prefix: (string | number)[], list: typeof root) => {
          for (const row of list) {
            lines.push(...row.before);
            const first = lines.length + 1;
            lines.push(...row.text.split(eol));
            values.push({ path: [...prefix, ...row.path], lines: [first, lines.length], value: row.value });
          }
        };
        put([], root);
        for (const { name, rows: own, before, after } of sections) {
          lines.push(...before, `[ ${name.map((part) => JSON.stringify(part)).join(' . ')} ] ${after}`);
          tables.push(name);
          put([], own);
        }
        for (const [index, { rows: own, before, after }] of elements.entries()) {
          lines.push(...before, `[[elements]]${after}`);
          tables.push(['elements', index]);
          put(['elements', index], own);
        }
        lines.push(...end);
        const text = (bom ? '\uFEFF' : '') + lines.join(eol) + (final && lines.length > 0 ? eol : '');
        return { text, values, tables };
      }),
  );

export const newValue = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.integer(),
  fc.boolean(),
  fc.double().map((value) => (Object.is(value, -0) ? 0 : value)),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('k', 'l m', 'n'), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 }),
);

export const BOM = '\uFEFF';

/**
 * Without the byte order mark, which stays at the front whatever becomes of the first line, and each with its end: an
 * unfinished last line may get one when another line follows.
 */
export function linesIn(text: string): string[] {
  const bare = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  const eol = /\r?\n/.exec(bare)?.[0] ?? '\n';
  const lines = bare.split(/(?<=\n)/).filter((line) => line !== '');
  return lines.map((line) => (line.endsWith('\n') ? line : line + eol));
}
