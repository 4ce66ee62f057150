import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** A workspace with one fault per file, judged by the repository's own knip configuration. */
const FILES: Record<string, string> = {
  'package.json': JSON.stringify({ name: 'fixture', private: true, workspaces: ['packages/*'] }),
  'packages/core/package.json': manifest('core', { zod: '4' }),
  'packages/core/src/index.ts': "export * from './used.ts';\n",
  'packages/core/src/used.ts':
    "import merge from 'undeclared-value';\nexport const used = merge;\nexport type Up = import('@jackin/runtime').Door;\n",
  'packages/core/src/orphan.ts': 'export const orphan = 1;\n',
  'packages/core/test/used.test.ts': "import { helper } from './help.ts';\nexport default helper;\n",
  'packages/core/test/help.ts': 'export const helper = 1;\nexport const forgotten = 2;\n',
  'packages/runtime/package.json': manifest('runtime', {}),
  'packages/runtime/src/index.ts': 'export type Door = string;\n',
};

interface Report {
  issues: ({ file: string } & Record<string, { name: string }[]>)[];
}

let root: string;
let report: Report;
let code: number | null;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'jk-unused-'));
  const config = JSON.parse(readFileSync(join(REPOSITORY, 'knip.json'), 'utf8'));
  // The fixture has neither tools nor an application; what is asked of a package stays as it is.
  const workspaces = { 'packages/*': config.workspaces['packages/*'] };
  const files = { ...FILES, 'knip.json': JSON.stringify({ workspaces }) };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  mkdirSync(join(root, 'node_modules/@jackin'), { recursive: true });
  for (const name of ['core', 'runtime']) {
    symlinkSync(`../../packages/${name}`, join(root, 'node_modules/@jackin', name));
  }
  const args = [join(REPOSITORY, 'node_modules/knip/bin/knip.js'), '--reporter', 'json', '--no-config-hints'];
  const result = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 60_000 });
  code = result.status;
  report = JSON.parse(result.stdout);
}, 60_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

test('A fault fails the run', () => {
  expect(code).toBe(1);
});

test.each([
  ['an undeclared package', 'packages/core/src/used.ts', 'unlisted', 'undeclared-value'],
  ['an undeclared package in an import() type', 'packages/core/src/used.ts', 'unlisted', '@jackin/runtime'],
  ['a dependency nobody uses', 'packages/core/package.json', 'dependencies', 'zod'],
  ['a file nobody imports', 'packages/core/src/orphan.ts', 'files', 'packages/core/src/orphan.ts'],
  ['an export nobody uses', 'packages/core/test/help.ts', 'exports', 'forgotten'],
])('%s is reported', (_what, file, kind, name) => {
  const found = report.issues.filter((issue) => issue.file === file).flatMap((issue) => issue[kind] ?? []);
  expect(found.map((issue) => issue.name)).toContain(name);
});

function manifest(name: string, dependencies: Record<string, string>): string {
  const exports = { '.': { '@jackin/source': './src/index.ts', default: './dist/index.js' } };
  return JSON.stringify({ name: `@jackin/${name}`, version: '0.1.0', type: 'module', exports, dependencies });
}
