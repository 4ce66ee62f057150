import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thirdPartyNotices } from './notices.ts';
import { addPrebuilds, type Prebuild } from './prebuilds.ts';

const APP = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(APP, '../..');
const BUNDLE = join(APP, 'dist/bundle');
const META = join(APP, 'dist/bundle-meta.json');
const STAGE = join(APP, 'dist/package');
/** What the bundled libraries need; launcher/bin.js says it to those who install on an older Node all the same. */
const ENGINES = '^22.22.0 || >=24.15.0';

/**
 * Stages the published package in dist/package/ and packs it: the bundle, the node-pty binaries of every platform as
 * bundled dependencies, and the licences of all of it. Installing it downloads nothing and runs no script
 * (docs/decisions/0006-one-bundled-package.md).
 */
function pack(): string {
  if (!existsSync(META)) throw new Error(`There is no bundle at ${BUNDLE}: run npm run build first`);
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(STAGE, { recursive: true });
  cpSync(BUNDLE, STAGE, { recursive: true, filter: (source) => basename(source) !== 'node_modules' });
  const prebuilds = addPrebuilds(join(ROOT, 'package-lock.json'), join(STAGE, 'node_modules'));
  writeJson(join(STAGE, 'package.json'), stagedManifest(prebuilds));
  for (const file of [join(ROOT, 'LICENSE'), join(APP, 'README.md')])
    cpSync(file, join(STAGE, basename(file)));
  const meta = JSON.parse(readFileSync(META, 'utf8'));
  const staged = prebuilds.map(({ name }) => join(STAGE, 'node_modules', name));
  // The binaries are built from node-pty and come without its licence text.
  const nodePty = join(ROOT, 'node_modules/@lydell/node-pty');
  writeFileSync(join(STAGE, 'THIRD_PARTY_NOTICES'), thirdPartyNotices(meta, APP, [nodePty, ...staged]));
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', join(APP, 'dist')], {
    cwd: STAGE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return join(APP, 'dist', tarballName(output));
}

/** `bundleDependencies` puts node_modules into the tarball; optional, because each binary serves one platform. */
function stagedManifest(prebuilds: Prebuild[]): Record<string, unknown> {
  const own = JSON.parse(readFileSync(join(APP, 'package.json'), 'utf8'));
  return {
    name: own.name,
    version: own.version,
    description: own.description,
    license: own.license,
    type: 'module',
    bin: { jackin: 'bin.js' },
    engines: { node: ENGINES },
    os: ['linux', 'darwin'],
    optionalDependencies: Object.fromEntries(prebuilds.map(({ name, version }) => [name, version])),
    bundleDependencies: prebuilds.map(({ name }) => name),
  };
}

/** npm 11 answers with an array, npm 12 with an object keyed by package name. */
function tarballName(output: string): string {
  const [packed] = Object.values(JSON.parse(output)) as { filename: string }[];
  if (!packed) throw new Error(`npm pack named no file: ${output}`);
  return basename(packed.filename);
}

function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

process.stdout.write(`${pack()}\n`);
