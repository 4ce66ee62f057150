import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLegalTransition, STATUSES } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import { CAUSE_TABLE } from '../../src/decide/index.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PAGE = readFileSync(join(ROOT, 'docs/status-and-causes.md'), 'utf8');
const EVENT_TESTS = ['e2e', 'engine'].map((folder) => join(ROOT, 'apps/jackin/test', folder));

interface MapLine {
  row: string;
  decisionTest: string;
  file: string;
  eventTests: string[];
  needsEngine: boolean;
}

const map: MapLine[] = tableAt('cause-map').map(([row, decisionTest, file, events, engine]) => ({
  row: plain(row),
  decisionTest: plain(decisionTest),
  file: plain(file),
  eventTests: plain(events)
    .split('<br>')
    .filter((title) => title !== ''),
  needsEngine: plain(engine) === 'yes',
}));

describe('docs/status-and-causes.md', () => {
  test('maps every row of the cause table, once and in its order', () => {
    expect(map.map(({ row }) => row)).toEqual(CAUSE_TABLE.map(({ id }) => id));
  });

  test('marks exactly the rows whose event needs an engine', () => {
    const needing = CAUSE_TABLE.filter((row) => row.needs_engine).map(({ id }) => id);
    expect(map.filter(({ needsEngine }) => needsEngine).map(({ row }) => row)).toEqual(needing);
  });

  test.each(map)('names an existing decision test for $row', ({ decisionTest, file }) => {
    expect(titlesIn(readFileSync(join(import.meta.dirname, file), 'utf8'))).toContain(decisionTest);
  });

  test('names an event test for every row', () => {
    expect(map.filter(({ eventTests }) => eventTests.length === 0)).toEqual([]);
  });

  test('names only event tests that exist', () => {
    const wanted = map.flatMap(({ eventTests }) => eventTests);
    expect(wanted).toHaveLength(new Set(wanted).size);
    const written = EVENT_TESTS.flatMap(eventTitles);
    expect(wanted.filter((title) => !written.includes(title))).toEqual([]);
  });

  test('names a test on an engine for every row whose event needs one', () => {
    const [, onEngine = ''] = EVENT_TESTS;
    const written = eventTitles(onEngine);
    for (const { row, eventTests } of map.filter(({ needsEngine }) => needsEngine)) {
      expect({ row, onEngine: eventTests.filter((title) => written.includes(title)) }).toEqual({
        row,
        onEngine: eventTests,
      });
    }
  });

  test('prints the cause table as the code decides by it', () => {
    const printed = tableAt('causes').map((cells) => cells.map(plain));
    const decided = CAUSE_TABLE.map((row) => [
      row.id,
      row.facts,
      row.status ?? 'unchanged',
      row.cause ?? 'unchanged',
      row.exit_flow ? 'yes' : 'no',
    ]);
    expect(printed).toEqual(decided);
  });

  test('prints the transitions as the code allows them', () => {
    const printed = tableAt('transitions').map(([from, to]) => [
      plain(from),
      plain(to).split(' ').filter(Boolean).sort(),
    ]);
    const allowed = STATUSES.map((from) => [
      from,
      STATUSES.filter((to) => from !== to && isLegalTransition(from, to)).sort(),
    ]);
    expect(new Map(printed as [string, string[]][])).toEqual(new Map(allowed as [string, string[]][]));
  });
});

/** The body rows of the table between two markers of the page. */
function tableAt(name: string): string[][] {
  const between = PAGE.split(`<!-- ${name}:start -->`)[1]?.split(`<!-- ${name}:end -->`)[0];
  if (between === undefined) throw new Error(`the page has no table between the ${name} markers`);
  const lines = between.trim().split('\n').slice(2);
  return lines.map((line) => line.split('|').slice(1, -1));
}

function plain(cell: string | undefined): string {
  return (cell ?? '').replaceAll('`', '').trim();
}

function eventTitles(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => titlesIn(readFileSync(join(folder, name), 'utf8')));
}

/** Titles of tests: first arguments of `test(`, and `title:` fields of test tables. */
function titlesIn(source: string): string[] {
  const pattern = /(?:\b(?:test|it)\(\s*|\btitle:\s*)(['"`])((?:(?!\1).)+)\1/g;
  return [...source.matchAll(pattern)].map((match) => match[2] ?? '');
}
