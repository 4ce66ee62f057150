import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** In a place from which the packages outside the bundle are found. */
const CACHE = fileURLToPath(new URL('../../../../../node_modules/.cache/jackin-test/', import.meta.url));
/** CommonJS dependencies inside an ES module still call `require`. */
const BANNER = "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);";

/**
 * A program of the sources as one file, so that the hundreds of processes these tests start take a fraction of the
 * time. Named by its content: it is never stale, and processes that build the same one may race.
 */
export async function bundled(entry: URL): Promise<{ file: string; args: string[] }> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    conditions: ['@jackin/source'],
    external: ['@lydell/*', 'esbuild'],
    banner: { js: BANNER },
    write: false,
  });
  await stop();
  const text = outputFiles[0]?.text ?? '';
  const program = `${CACHE}${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${program}.${process.pid}`, text);
  renameSync(`${program}.${process.pid}`, program);
  return { file: process.execPath, args: [program] };
}
