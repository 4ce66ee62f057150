import { chmod, copyFile, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { lockedNodes } from '../src/pinned-node.ts';

const app = new URL('../', import.meta.url);
const out = new URL('dist/bundle/', app);
/** Built beside it and moved into place: a jackin that runs from the old bundle never sees half a new one. */
const fresh = new URL(`dist/bundle.${process.pid}/`, app);
const old = new URL(`dist/bundle.${process.pid}.old/`, app);
const at = (path: string, base: URL = app) => fileURLToPath(new URL(path, base));

/** CommonJS dependencies inside an ES module still call `require`, and a few look at their own file name. */
const banner = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join('\n');

const { version } = JSON.parse(await readFile(at('package.json'), 'utf8')) as { version: string };

/**
 * What the engine's client brings for ways we do not go: engines over SSH (a native build) and BuildKit sessions with
 * registry accounts. They are asked for when the client is loaded, so they have to be something.
 */
const absent: Plugin = {
  name: 'absent',
  setup({ onResolve, onLoad }) {
    const filter = /^(ssh2|@grpc\/grpc-js|@grpc\/proto-loader|protobufjs)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'absent' }));
    onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
  },
};

const common = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  conditions: ['@jackin/source'],
  define: {
    JACKIN_VERSION: JSON.stringify(version),
    JACKIN_PINNED_NODES: JSON.stringify(lockedNodes()),
    'process.env.NODE_ENV': '"production"',
  },
  // Prebuilt native code: it is loaded from node_modules beside the bundle.
  external: ['@lydell/node-pty-*'],
  plugins: [absent],
  absWorkingDir: fileURLToPath(app),
  metafile: true,
  banner: { js: banner },
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;

await rm(fresh, { recursive: true, force: true });
await mkdir(fresh, { recursive: true });
try {
  const cli = await build({
    ...common,
    // Two entries share their chunks: oclif imports the command table by its file name.
    entryPoints: { main: at('src/main.ts'), commands: at('src/commands.ts') },
    outdir: fileURLToPath(fresh),
    splitting: true,
    chunkNames: 'chunk-[hash]',
  });
  const capsule = await build({
    ...common,
    entryPoints: [at('../../packages/capsule/src/main.ts')],
    outfile: at('capsule.mjs', fresh),
  });
  await copyFile(at('launcher/bin.js'), at('bin.js', fresh));
  await chmod(at('bin.js', fresh), 0o755);
  await cp(at('../../packages/runtime/roles'), at('roles', fresh), { recursive: true });
  // What went into it, for the licences of the package (scripts/pack.ts).
  const inputs = { ...cli.metafile.inputs, ...capsule.metafile.inputs };
  await writeFile(at('dist/bundle-meta.json'), JSON.stringify({ inputs }));
  await rename(out, old).catch(() => undefined);
  await rename(fresh, out);
} finally {
  for (const leftover of [fresh, old]) await rm(leftover, { recursive: true, force: true });
}
