import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FileKind, loadConfig, migrateText } from '@jackin/config';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseToml } from '../../src/document/index.ts';
import { treeOf } from '../../src/document/tree.ts';
import { chains } from '../../src/migrate/migrate-text.ts';

const ROOT = fileURLToPath(new URL('../../../../fixtures/migrations', import.meta.url));
const KINDS = ['config', 'workspace', 'manifest'] as const satisfies readonly FileKind[];

const fixtures = KINDS.flatMap((kind) =>
  readdirSync(join(ROOT, kind)).map((name) => {
    const read = (file: string) => readFileSync(join(ROOT, kind, name, file), 'utf8');
    const meta = parseToml(read('meta.toml'));
    return { kind, name, before: read('before.toml'), after: read('after.toml'), meta };
  }),
);

test.each(KINDS)('every version of %s before the newest has a fixture, and there is no other', (kind) => {
  const versions = chains[kind].steps.map(({ from }) => `from-${from}`);
  expect(
    fixtures
      .filter((one) => one.kind === kind)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(versions.sort());
});

test('between them the fixtures have everything that gets lost easily', () => {
  const count = (what: (text: string) => boolean) => fixtures.filter(({ before }) => what(before)).length;
  expect(count((text) => text.includes('\r\n'))).toBeGreaterThan(5);
  expect(count((text) => text.startsWith('\uFEFF'))).toBeGreaterThan(4);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  expect(count((text) => /[^\u0000-\u007f\uFEFF]/.test(text))).toBeGreaterThan(14);
  expect(count((text) => text.includes('#'))).toBe(fixtures.length);
  expect(count((text) => !text.endsWith('\n'))).toBeGreaterThan(0);
});

describe.each(fixtures)('$kind/$name', ({ kind, name, before, after, meta }) => {
  const file = `${kind}/${name}`;

  test('becomes what is written beside it, and says what was done', () => {
    const migrated = migrateText(kind, before, file);
    expect(migrated.text).toBe(after);
    expect(meta).toEqual({
      from_version: migrated.from,
      target_version: migrated.to,
      summary: migrated.steps[0]?.summary,
    });
    expect([`from-${migrated.from}`, migrated.to]).toEqual([name, chains[kind].target]);
    const expected = chains[kind].steps.slice(
      chains[kind].steps.findIndex(({ from }) => from === migrated.from),
    );
    expect(migrated.steps.map(({ to }) => to)).toEqual(expected.map(({ to }) => to));
  });

  test('is not changed by a second time', () => {
    expect(migrateText(kind, after, file)).toEqual({
      text: after,
      from: meta.target_version,
      to: meta.target_version,
      steps: [],
    });
  });

  test('means the same but for what its steps name', () => {
    expect(parseToml(after)).toEqual(expectedOf(kind, name, parseToml(before)));
    expect(Object.keys(parseToml(after))[0]).toBe('version');
  });

  test('keeps every comment, every line no step names, line ends and byte order mark', () => {
    const comments = (text: string) => {
      const bare = text.replace(/^\uFEFF/, '');
      return treeOf(bare).comments.map(({ start, end }) => bare.slice(start, end));
    };
    expect(comments(after).sort()).toEqual(comments(before).sort());
    expect(after.startsWith('\uFEFF')).toBe(before.startsWith('\uFEFF'));
    expect(after.endsWith('\n')).toBe(before.endsWith('\n'));
    expect(after.replaceAll('\r\n', '').includes('\n')).toBe(before.replaceAll('\r\n', '').includes('\n'));
    const lines = (text: string) => text.replace(/^\uFEFF/, '').split('\n');
    const named = /^\s*(version\s*=|op_account|dirty_exit_policy)|op:\/\//;
    const kept = lines(before).filter((line) => !named.test(line));
    let from = 0;
    for (const line of kept) {
      const at = lines(after).indexOf(line, from);
      expect([line, at]).toEqual([line, expect.any(Number)]);
      expect(at).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
  });
});

/** What the steps are documented to do, written once more without the steps (docs/schema-timeline.md). */
function expectedOf(kind: FileKind, name: string, before: any): any {
  const value = { ...before, version: chains[kind].target };
  if (value.dirty_exit_policy === 'discard' && kind !== 'manifest') value.dirty_exit_policy = 'clean';
  const { op_account: account, ...rest } = value;
  if (kind !== 'workspace' || account === undefined || /alpha[5-9]$/.test(name)) return value;
  const withAccount = (env: any) =>
    env === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries<any>(env).map(([key, one]) => [key, one.op ? { account, ...one } : one]),
        );
  const holder = (at: any): any => ({
    ...at,
    ...(at.env ? { env: withAccount(at.env) } : {}),
    ...(at.github
      ? { github: { ...at.github, ...(at.github.env ? { env: withAccount(at.github.env) } : {}) } }
      : {}),
  });
  const roles = Object.entries<any>(rest.roles ?? {}).map(([key, role]) => [key, holder(role)]);
  return { ...holder(rest), ...(rest.roles ? { roles: Object.fromEntries(roles) } : {}) };
}

describe('loading a fixture', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'jackin-fixtures-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test.each(fixtures.filter(({ kind }) => kind !== 'manifest'))(
    '$kind/$name means the same before and after its migration',
    async ({ kind, name, before, after }) => {
      const load = async (text: string) => {
        const configDir = mkdtempSync(join(root, name));
        mkdirSync(join(configDir, 'workspaces'));
        const path = kind === 'config' ? 'config.toml' : 'workspaces/w.toml';
        writeFileSync(join(configDir, path), text);
        const { config, workspaces } = await loadConfig({ configDir });
        expect(readFileSync(join(configDir, path), 'utf8')).toBe(text);
        return { config, workspaces: [...workspaces] };
      };
      const [old, current] = [await load(before), await load(after)];
      expect(old).toEqual(current);
    },
  );
});
