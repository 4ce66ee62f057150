import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const imports = (from: string) => `import { inner } from '${from}';\nexport default inner;\n`;

/** Every way past a boundary: what it is, the rule that must name it, the file it is found in, its text. */
const VIOLATIONS: [sentence: string, rule: string, file: string, text: string][] = [
  [
    'a value imported from a later package',
    'order-core',
    'packages/core/src/value.ts',
    imports('@jackin/runtime'),
  ],
  [
    'a type imported from a later package',
    'order-config',
    'packages/config/src/type.ts',
    "import type { Inner } from '@jackin/runtime';\nexport type Up = Inner;\n",
  ],
  [
    'a later package loaded at run time',
    'order-core',
    'packages/core/src/lazy.ts',
    "export const later = () => import('@jackin/runtime');\n",
  ],
  [
    'a later package loaded in a using declaration',
    'order-core',
    'packages/core/src/using.ts',
    "export async function f() {\n  await using later = await import('@jackin/runtime');\n  return later;\n}\n",
  ],
  [
    'a later package re-exported',
    'order-core',
    'packages/core/src/again.ts',
    "export * from '@jackin/runtime';\n",
  ],
  [
    'a test that reaches for a later package',
    'order-core',
    'packages/core/test/up.test.ts',
    imports('@jackin/runtime'),
  ],
  [
    'a package that imports the application',
    'order-runtime',
    'packages/runtime/src/app.ts',
    "import main from '../../../apps/jackin/src/main.ts';\nexport default main;\n",
  ],
  [
    'a relative path into another package',
    'package-door-by-name',
    'packages/runtime/src/by-path.ts',
    imports('../../core/src/index.ts'),
  ],
  [
    'a relative path past another package’s door',
    'package-door',
    'packages/runtime/src/past.ts',
    imports('../../core/src/inner.ts'),
  ],
  [
    'a name that is no door of the package',
    'resolvable',
    'packages/runtime/src/no-door.ts',
    imports('@jackin/core/src/inner.ts'),
  ],
  [
    'a tool that a package uses',
    'no-tools',
    'packages/core/src/tooled.ts',
    "export { default } from '../../../tools/tour.ts';\n",
  ],
  [
    "a tool other than the lab that a package's tests use",
    'test-tools',
    'packages/core/test/tooled.ts',
    "export { default } from '../../../tools/tour.ts';\n",
  ],
  [
    'a tool that goes past a door',
    'package-door-tools',
    'tools/deep.ts',
    imports('../packages/core/src/inner.ts'),
  ],
  [
    'a circle of two files',
    'no-cycle',
    'packages/core/src/a.ts',
    "import { b } from './b.ts';\nexport const a = () => b;\n",
  ],
  [
    'a circle of types only',
    'no-cycle',
    'packages/core/src/c.ts',
    "import type { D } from './d.ts';\nexport interface C { d: D }\n",
  ],
  [
    'a circle of two packages',
    'no-cycle',
    'packages/config/src/index.ts',
    "import { ring } from '@jackin/instance';\nexport const inner = ring;\nexport type Inner = string;\n",
  ],
  [
    'an import of a file that is not there',
    'resolvable',
    'packages/core/src/gone.ts',
    imports('./nowhere.ts'),
  ],
  [
    'a source that imports a test',
    'sources-import-sources',
    'packages/core/src/helped.ts',
    imports('../test/help.ts'),
  ],
  [
    'a package the order does not name',
    'package-in-order',
    'packages/extra/src/index.ts',
    "export * from './inner.ts';\n",
  ],
];

/** The other halves of the circles, and what a violation imports. */
const PARTNERS: Record<string, string> = {
  'packages/core/src/b.ts': "import { a } from './a.ts';\nexport const b = () => a;\n",
  'packages/core/src/d.ts': "import type { C } from './c.ts';\nexport interface D { c: C }\n",
  'packages/core/test/help.ts': 'export const inner = 1;\n',
  'packages/instance/src/inner.ts':
    "import { inner } from '@jackin/config';\nexport const ring = () => inner;\n",
  'packages/extra/src/inner.ts': 'export const inner = 1;\n',
};

const CLEAN: Record<string, string> = {
  ...Object.fromEntries(
    ['core', 'config', 'instance', 'runtime'].flatMap((name) => [
      [`packages/${name}/src/index.ts`, "export * from './inner.ts';\n"],
      [`packages/${name}/src/inner.ts`, 'export const inner = 1;\nexport type Inner = string;\n'],
    ]),
  ),
  'apps/jackin/package.json': JSON.stringify({ name: 'jackin', type: 'module' }),
  'apps/jackin/src/main.ts': imports('@jackin/runtime'),
  'packages/runtime/src/down.ts': imports('@jackin/core'),
  'tools/tour.ts': imports('@jackin/core'),
};

const scratch: string[] = [];
let broken: { code: number | null; output: string };

beforeAll(() => {
  const files = Object.fromEntries(VIOLATIONS.map(([, , file, text]) => [file, text]));
  broken = check(workspace({ ...CLEAN, ...PARTNERS, ...files }));
});

afterAll(() => {
  for (const dir of scratch) rmSync(dir, { recursive: true, force: true });
});

test('a workspace that keeps the rules passes', () => {
  const { code, output } = check(workspace(CLEAN));
  expect(output).toContain('no dependency violations found');
  expect(code).toBe(0);
});

test('a broken rule fails the run', () => {
  expect(broken.code).not.toBe(0);
});

test.each(VIOLATIONS)('%s is reported as %s', (_sentence, rule, file) => {
  expect(broken.output).toContain(`error ${rule}: ${file} →`);
});

function workspace(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'jk-boundaries-'));
  scratch.push(root);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  write('package.json', JSON.stringify({ name: 'fixture', workspaces: ['packages/*', 'apps/*'] }));
  mkdirSync(join(root, 'node_modules/@jackin'), { recursive: true });
  const names = new Set(Object.keys(files).flatMap((path) => /^packages\/([^/]+)/.exec(path)?.[1] ?? []));
  for (const name of names) {
    const exports = { '.': { '@jackin/source': './src/index.ts', default: './dist/index.js' } };
    write(
      `packages/${name}/package.json`,
      JSON.stringify({ name: `@jackin/${name}`, type: 'module', exports }),
    );
    symlinkSync(`../../packages/${name}`, join(root, 'node_modules/@jackin', name));
  }
  return root;
}

function check(root: string): { code: number | null; output: string } {
  const tool = join(REPOSITORY, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const config = join(REPOSITORY, '.dependency-cruiser.js');
  const args = [tool, '--config', config, 'packages', 'apps', 'tools'];
  const result = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 60_000 });
  return { code: result.status, output: result.stdout + result.stderr };
}
