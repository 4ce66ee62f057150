import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { containerNode, isSelfContained, type PinnedNode } from '../../src/docker/container-node.ts';
import { neededLibraries } from '../../src/docker/elf-needed.ts';

const LOCK = fileURLToPath(new URL('../../../../package-lock.json', import.meta.url));
const NAME = `node-linux-${process.arch}`;
const { packages } = JSON.parse(readFileSync(LOCK, 'utf8'));
const { version, integrity } = packages[`node_modules/${NAME}`];
const pinned: PinnedNode = { name: NAME, version, integrity };
const elsewhere = { platform: 'darwin', arch: process.arch, execPath: '/opt/homebrew/bin/node' };

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'jk-node-'));
});
afterEach(() => rm(cacheDir, { recursive: true }));

const onLinux = process.platform === 'linux' ? describe : () => undefined;

onLinux('a program that any image can run', () => {
  const bundledNode = fileURLToPath(new URL(`../../../../node_modules/${NAME}/bin/node`, import.meta.url));

  test('needs nothing but glibc and libstdc++', async () => {
    expect(await isSelfContained(bundledNode)).toBe(true);
    expect(await neededLibraries(bundledNode)).toEqual(
      expect.arrayContaining(['libc.so.6', 'libstdc++.so.6']),
    );
  });

  test('is none that needs a library of its own', async () => {
    // ls of Debian and Fedora asks for libselinux.
    const needed = await neededLibraries('/bin/ls');
    expect(needed).toContain('libc.so.6');
    expect(await isSelfContained('/bin/ls')).toBe(needed?.length === 1);
  });

  test.each([
    ['a script', async () => writeFile(join(cacheDir, 'file'), '#!/bin/sh\nexit 0\n')],
    [
      'a cut program',
      async () => writeFile(join(cacheDir, 'file'), readFileSync('/bin/ls').subarray(0, 100)),
    ],
    ['nothing', async () => undefined],
  ])('is not %s', async (_title, make) => {
    await make();
    expect(await neededLibraries(join(cacheDir, 'file'))).toBeNull();
    expect(await isSelfContained(join(cacheDir, 'file'))).toBe(false);
  });

  test('is our own Node where it serves, and nothing is fetched', async () => {
    const self = { platform: 'linux', arch: process.arch, execPath: bundledNode };
    expect(await containerNode({ self, arch: process.arch, pinned: {}, cacheDir })).toBe(bundledNode);
    expect(readdirSync(cacheDir)).toEqual([]);
  });
});

onLinux('the Node of containers where our own does not serve', () => {
  test('is the pinned package, fetched once and checked', async () => {
    const options = { self: elsewhere, arch: process.arch, pinned: { [process.arch]: pinned }, cacheDir };
    const node = await containerNode(options);
    expect(execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()).toBe(`v${version}`);
    expect(
      await containerNode({ ...options, pinned: { [process.arch]: { ...pinned, integrity: 'sha512-x' } } }),
    ).toBe(node);
    expect(readdirSync(cacheDir)).toEqual([`${NAME}-${version}`]);
  }, 120_000);

  test('is refused when its bytes are others, and nothing of it stays', async () => {
    const other = { name: '@lydell/node-pty', version: '1.1.0', integrity: 'sha512-AAAA' };
    await expect(
      containerNode({ self: elsewhere, arch: process.arch, pinned: { [process.arch]: other }, cacheDir }),
    ).rejects.toMatchObject({
      code: 'RUNTIME_NODE_UNAVAILABLE',
      message: expect.stringContaining('has integrity sha512-'),
      hint: expect.stringContaining('nodejs.org'),
    });
    expect(readdirSync(cacheDir)).toEqual([]);
  }, 120_000);

  test('is refused by name for an architecture nothing is pinned for', async () => {
    const asked = containerNode({ self: elsewhere, arch: 'riscv64', pinned: {}, cacheDir });
    await expect(asked).rejects.toMatchObject({
      code: 'RUNTIME_NODE_UNAVAILABLE',
      message: expect.stringContaining('linux-riscv64'),
    });
    expect(existsSync(join(cacheDir, 'riscv64'))).toBe(false);
  });
});
