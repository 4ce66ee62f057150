import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { describeFileSystem, ensurePrivateDir, readFileBounded, refuseDanglingLink } from '../src/index.ts';

let root: string;
let link: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'jk-dangling-'));
  link = join(root, 'state');
  await symlink(join(root, 'not-mounted'), link);
});
afterEach(() => rm(root, { recursive: true }));

describe('a link whose target is not there', () => {
  const missing = () => ({
    code: 'LINK_TARGET_MISSING',
    message: `${link} is a link to ${join(root, 'not-mounted')}, and that is not there.`,
  });

  test.each<[string, () => Promise<unknown>]>([
    ['makes no directory below it, and comes to an end', () => ensurePrivateDir(join(link, 'data/jk'))],
    ['is no missing file', () => readFileBounded(link, { maxBytes: 9, follow: true })],
    ['has no missing file below it', () => readFileBounded(join(link, 'a/b'), { maxBytes: 9 })],
    ['is no place to say something about', () => describeFileSystem(join(link, 'data'))],
    ['is refused by name', () => refuseDanglingLink(join(link, 'a'))],
  ])('%s', async (_title, look) => {
    await expect(look()).rejects.toMatchObject(missing());
  });

  test('is used once its target is there', async () => {
    await mkdir(join(root, 'not-mounted'));
    await ensurePrivateDir(join(link, 'data/jk'));
    expect(await readFileBounded(join(link, 'none'), { maxBytes: 9 })).toBeNull();
  });
});

test('what is simply not there is not there', async () => {
  await expect(refuseDanglingLink(join(root, 'a/b/c'))).resolves.toBeUndefined();
  expect(await readFileBounded(join(root, 'none'), { maxBytes: 9, follow: true })).toBeNull();
});

const onLinux = process.platform === 'linux' ? test : () => undefined;
onLinux('a place that takes no directory is an error and no endless attempt', async () => {
  await expect(ensurePrivateDir('/proc/self/fdinfo/none/none')).rejects.toMatchObject({
    code: 'STATE_NOT_WRITABLE',
  });
});
