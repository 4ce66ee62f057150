import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePaths } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sizesOf } from '../../src/flows/sizes.ts';

const BYTES = 8 * 1024 * 1024;

describe('the size of an instance', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'jk-sizes-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test('goes on past what vanishes while it is measured', async () => {
    const paths = resolvePaths({ JACKIN_HOME_DIR: root, JACKIN_CONFIG_DIR: join(root, 'config') });
    const { dir } = paths.instance('jk-aaaaaaaa-shell');
    const passing = join(dir, 'passing');
    await mkdir(passing, { recursive: true });
    await writeFile(join(dir, 'large'), Buffer.alloc(BYTES, 1));
    for (let n = 0; n < 200; n += 1) await writeFile(join(passing, `${n}`), '');
    const measured = Array.from({ length: 20 }, () => sizesOf(paths, 'jk-aaaaaaaa-shell'));
    await rm(passing, { recursive: true });
    for (const { data_bytes: bytes } of await Promise.all(measured))
      expect(bytes).toBeGreaterThanOrEqual(BYTES);
  });
});
