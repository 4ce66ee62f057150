import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { materialiseRuntime, type RuntimeFile } from '../src/index.ts';

let dir: string;
let runtimeRoot: string;
let files: RuntimeFile[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'jk-runtime-'));
  runtimeRoot = join(dir, 'runtime');
  files = [];
  for (const [path, text, mode] of [
    ['node', '#!/bin/sh\necho node\n', 0o755],
    ['capsule.mjs', 'export {};\n', 0o600],
    ['node_modules/@lydell/node-pty-linux-x64/pty.node', 'binary', 0o755],
  ] as const) {
    const source = join(dir, path.replaceAll('/', '_'));
    await writeFile(source, text);
    await chmod(source, mode);
    files.push({ path, source });
  }
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const sourceOf = (path: string): string => files.find((file) => file.path === path)?.source ?? '';

describe('the runtime directory', () => {
  test('holds the files under a name made of their paths, modes and bytes', async () => {
    const { digest, dir: runtime } = await materialiseRuntime({ runtimeRoot, files });
    expect(runtime).toBe(join(runtimeRoot, digest));
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await readFile(join(runtime, 'capsule.mjs'), 'utf8')).toBe('export {};\n');
    expect((await stat(join(runtime, 'node'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(runtime, 'capsule.mjs'))).mode & 0o777).toBe(0o644);
    expect((await stat(join(runtime, 'node_modules'))).mode & 0o777).toBe(0o755);
    expect((await stat(runtimeRoot)).mode & 0o777).toBe(0o700);
    expect(await readdir(runtimeRoot)).toEqual([digest]);
  });

  test('is the same for the same files in any order, and another one for any difference', async () => {
    const { digest } = await materialiseRuntime({ runtimeRoot, files });
    const again = await materialiseRuntime({ runtimeRoot, files: files.toReversed() });
    expect(again.digest).toBe(digest);
    const digests = new Set([digest]);
    await chmod(sourceOf('capsule.mjs'), 0o755);
    digests.add((await materialiseRuntime({ runtimeRoot, files })).digest);
    await writeFile(sourceOf('capsule.mjs'), 'export { };\n');
    digests.add((await materialiseRuntime({ runtimeRoot, files })).digest);
    digests.add(
      (
        await materialiseRuntime({
          runtimeRoot,
          files: files.map((file) => ({ ...file, path: `x/${file.path}` })),
        })
      ).digest,
    );
    expect(digests.size).toBe(4);
    expect((await readdir(runtimeRoot)).sort()).toEqual([...digests].sort());
  });

  test('does not follow its sources: an instance keeps what it was started with', async () => {
    const before = await materialiseRuntime({ runtimeRoot, files });
    await writeFile(sourceOf('capsule.mjs'), 'upgraded');
    await rm(sourceOf('node'));
    expect(await readFile(join(before.dir, 'capsule.mjs'), 'utf8')).toBe('export {};\n');
    expect(await readFile(join(before.dir, 'node'), 'utf8')).toContain('echo node');
  });

  test.each<[string, (runtime: string) => Promise<unknown>]>([
    ['a cut file', (runtime) => writeFile(join(runtime, 'node'), '#!/bin')],
    ['a missing file', (runtime) => rm(join(runtime, 'capsule.mjs'))],
    ['a file too many', (runtime) => writeFile(join(runtime, 'preload.js'), 'evil')],
    ['another mode', (runtime) => chmod(join(runtime, 'node'), 0o644)],
    [
      'a file in its place',
      async (runtime) => {
        await rm(runtime, { recursive: true });
        await writeFile(runtime, '');
      },
    ],
    [
      'nothing in it',
      async (runtime) => {
        await rm(runtime, { recursive: true });
        await mkdir(runtime);
      },
    ],
  ])('that was damaged (%s) is made anew', async (_, damage) => {
    const { dir: runtime, digest } = await materialiseRuntime({ runtimeRoot, files });
    await damage(runtime);
    expect(await materialiseRuntime({ runtimeRoot, files })).toEqual({ dir: runtime, digest });
    expect((await readdir(runtime, { recursive: true })).sort()).toEqual(
      [
        'capsule.mjs',
        'node',
        'node_modules',
        'node_modules/@lydell',
        'node_modules/@lydell/node-pty-linux-x64',
        'node_modules/@lydell/node-pty-linux-x64/pty.node',
      ].sort(),
    );
    expect((await stat(join(runtime, 'node'))).mode & 0o777).toBe(0o755);
    expect(await readdir(runtimeRoot)).toEqual([digest]);
  });

  test('is made once by many at the same time', async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, () => materialiseRuntime({ runtimeRoot, files })),
    );
    expect(new Set(results.map(({ digest }) => digest)).size).toBe(1);
    expect(await readdir(runtimeRoot)).toEqual([results[0]?.digest]);
  });

  test.each(['../out', '/etc/passwd', 'a/../../out', '', 'a//b', './a', 'a/'])(
    'has no file called %j',
    async (path) => {
      const wrong = [{ path, source: sourceOf('node') }];
      await expect(materialiseRuntime({ runtimeRoot, files: wrong })).rejects.toMatchObject({
        code: 'RUNTIME_PATH_INVALID',
      });
    },
  );

  test('has each name once', async () => {
    const twice = [...files, ...files.slice(0, 1)];
    await expect(materialiseRuntime({ runtimeRoot, files: twice })).rejects.toMatchObject({
      code: 'RUNTIME_PATH_INVALID',
    });
  });

  test('names a source that is not there, and leaves nothing', async () => {
    const missing = [...files, { path: 'more', source: join(dir, 'missing') }];
    await expect(materialiseRuntime({ runtimeRoot, files: missing })).rejects.toMatchObject({
      message: expect.stringContaining('missing'),
    });
    expect(await readdir(dir)).not.toContain('runtime');
  });
});
