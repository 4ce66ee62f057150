import { mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { containerRuntime } from '../../src/docker/container-runtime.ts';

let root: string;
let options: Parameters<typeof containerRuntime>[0];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'jk-runtime-'));
  const ptyPackageDir = join(root, 'node-pty-linux-x64');
  await mkdir(join(ptyPackageDir, 'prebuilds'), { recursive: true });
  await writeFile(join(ptyPackageDir, 'package.json'), '{}');
  await writeFile(join(ptyPackageDir, 'prebuilds/pty.node'), 'binary');
  await writeFile(join(root, 'node'), 'a node', { mode: 0o755 });
  await writeFile(join(root, 'capsule.mjs'), 'a capsule');
  options = {
    ptyPackageDir,
    nodeBinary: join(root, 'node'),
    capsuleBundle: join(root, 'capsule.mjs'),
    runtimeRoot: join(root, 'runtime'),
  };
});
afterEach(() => rm(root, { recursive: true }));

describe('the files a container runs from', () => {
  test('are copied once, where the loader of the terminal looks for it', async () => {
    const { dir, digest } = await containerRuntime(options);
    expect(dir).toBe(join(root, 'runtime', digest));
    const binding = join(dir, 'node_modules/@lydell/node-pty-linux-x64/prebuilds/pty.node');
    expect(await readFile(binding, 'utf8')).toBe('binary');
    expect((await stat(join(dir, 'node'))).mode & 0o111).not.toBe(0);
    const { ino } = await stat(binding);
    expect(await containerRuntime(options)).toEqual({ dir, digest });
    expect((await stat(binding)).ino).toBe(ino);
  });

  test('are others when a source is another, though it has the same size', async () => {
    const before = await containerRuntime(options);
    await writeFile(join(root, 'capsule.mjs'), 'A capsule');
    const after = await containerRuntime(options);
    expect(after.digest).not.toBe(before.digest);
    expect(await readFile(join(after.dir, 'capsule.mjs'), 'utf8')).toBe('A capsule');
    expect(await readFile(join(before.dir, 'capsule.mjs'), 'utf8')).toBe('a capsule');
  });

  test('are the same when a source was only touched', async () => {
    const before = await containerRuntime(options);
    await utimes(join(root, 'node'), new Date(0), new Date(0));
    expect(await containerRuntime(options)).toEqual(before);
  });

  test.each([
    ['is gone', (dir: string) => rm(dir, { recursive: true })],
    ['lost a file', (dir: string) => rm(join(dir, 'capsule.mjs'))],
    ['has a file that was cut', (dir: string) => writeFile(join(dir, 'capsule.mjs'), 'a cap')],
  ])('are made again when the copy %s', async (_title, damage) => {
    const { dir } = await containerRuntime(options);
    await damage(dir);
    expect((await containerRuntime(options)).dir).toBe(dir);
    expect(await readFile(join(dir, 'capsule.mjs'), 'utf8')).toBe('a capsule');
  });

  test('that cannot be read are an error that names them', async () => {
    const missing = { ...options, nodeBinary: join(root, 'none') };
    await expect(containerRuntime(missing)).rejects.toMatchObject({
      code: 'STATE_NOT_READABLE',
      message: expect.stringContaining(join(root, 'none')),
    });
  });
});
