import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { CAPSULE_VERSION } from '../src/version.ts';
import { type CapsuleProcess, plan, startCapsule } from './support/capsule-process.ts';
import { watch } from './support/watch.ts';

const NATIVE = `@lydell/node-pty-${process.platform}-${process.arch}`;
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function bundled(depth: string): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'jk-bundle-'));
  cleanUp.push(() => rm(dir, { recursive: true, force: true }));
  const outfile = join(dir, depth, 'capsule.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('../src/main.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@jackin/source'],
    logLevel: 'silent',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  const native = dirname(createRequire(import.meta.url).resolve(`${NATIVE}/package.json`));
  const target = join(dir, 'node_modules', NATIVE);
  await mkdir(dirname(target), { recursive: true });
  cpSync(native, target, { recursive: true });
  return [process.execPath, outfile];
}

test.each([
  ['beside it', '.'],
  ['above it', 'lib/capsule'],
])('the program runs as one file with nothing but the terminal binding %s', async (_, depth) => {
  const capsule: CapsuleProcess = await startCapsule({ command: await bundled(depth) });
  cleanUp.push(() => capsule.dispose());
  const client = await capsule.connect();
  const view = watch(client);
  await client.attach({ sessionId: null, cols: 80, rows: 24 });
  await client.startSession(plan('echo from a bundle; read x'));
  await view.screen('from a bundle');
});

test('the version told in the handshake is the one of the package', async () => {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(manifest).version).toBe(CAPSULE_VERSION);
});
