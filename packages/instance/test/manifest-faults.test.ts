import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { makeManifest, makeStore, type TestStore } from './helpers.ts';

const BAD = makeManifest('badbadba');
const GOOD = [makeManifest('aaaaaaaa'), makeManifest('zzzzzzzz')];

async function withBad(): Promise<TestStore & { file: string; dir: string }> {
  const t = await makeStore();
  for (const manifest of [...GOOD, BAD]) await t.store.create(manifest);
  const where = t.paths.instance(BAD.container_base);
  return { ...t, file: where.manifest, dir: where.dir };
}

async function expectCorrupt(
  t: TestStore,
  expected: { path: string; reason: RegExp; code?: string },
): Promise<void> {
  const code = expected.code ?? 'MANIFEST_CORRUPT';
  const state = await t.store.load();
  expect(state.instances.map((manifest) => manifest.instance_id)).toEqual(['aaaaaaaa', 'zzzzzzzz']);
  expect(state.corrupt).toEqual([
    {
      path: expected.path,
      container_base: BAD.container_base,
      instance_id: 'badbadba',
      code,
      reason: expect.stringMatching(expected.reason),
    },
  ]);
  const error = { code, details: { path: expected.path, reason: state.corrupt[0]?.reason } };
  await expect(t.store.read(BAD.container_base)).rejects.toMatchObject(error);
  await expect(t.store.update(BAD.container_base, (m) => m)).rejects.toMatchObject(error);
  await expect(t.store.resolve('bad')).rejects.toMatchObject(error);
}

describe('a manifest that cannot be used', () => {
  const newer = JSON.stringify({ ...BAD, version: 3, status: 'a new status' });
  test.each<[string, string | Buffer, RegExp, string]>([
    ['O38: holds null', 'null', /expected object/, 'MANIFEST_CORRUPT'],
    ['O59: holds garbage', 'garbage', /not valid JSON/, 'MANIFEST_CORRUPT'],
    ['is empty', '', /empty/, 'MANIFEST_CORRUPT'],
    ['holds only NUL bytes', Buffer.alloc(2000), /NUL/, 'MANIFEST_CORRUPT'],
    [
      'is not UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      /not valid JSON/,
      'MANIFEST_CORRUPT',
    ],
    [
      'has a status nobody knows',
      JSON.stringify({ ...BAD, status: 'sleeping' }),
      /^status: /,
      'MANIFEST_CORRUPT',
    ],
    ['lacks fields', '{"version": 2}', /\(and \d+ more\)/, 'MANIFEST_CORRUPT'],
    ['is of version 1', JSON.stringify({ ...BAD, version: 1 }), /^version: /, 'MANIFEST_CORRUPT'],
    ['is of a newer version', newer, /version 3 is newer/, 'MANIFEST_TOO_NEW'],
    [
      'belongs to another directory',
      JSON.stringify(GOOD[0]),
      /belongs to "jk-aaaaaaaa-shell"/,
      'MANIFEST_CORRUPT',
    ],
    ['is huge', Buffer.alloc(5 * 1024 * 1024, 32), /larger than/, 'MANIFEST_CORRUPT'],
  ])(
    '%s: it is shown with its path, hides no other, and stays as it is',
    async (_title, content, reason, code) => {
      await using t = await withBad();
      await writeFile(t.file, content);
      await expectCorrupt(t, { path: t.file, reason, code });
      await t.store.rebuildIndex();
      expect((await t.store.load()).rows.map((row) => row.container_base)).toContain(BAD.container_base);
      await expect(t.store.create(BAD)).rejects.toMatchObject({ code: 'INSTANCE_EXISTS' });
      expect((await readFile(t.file)).equals(Buffer.from(content))).toBe(true);
    },
  );

  test('O57: cut at any byte', async () => {
    await using t = await withBad();
    const whole = await readFile(t.file);
    for (let length = 0; length < whole.length - 1; length += 7) {
      await writeFile(t.file, whole.subarray(0, length));
      const state = await t.store.load();
      expect([length, state.instances.length, state.corrupt.length]).toEqual([length, 2, 1]);
    }
    await expectCorrupt(t, { path: t.file, reason: /not valid JSON/ });
  });

  test('a directory without a manifest, as a launch that was cut off leaves it', async () => {
    await using t = await withBad();
    await rm(t.file);
    await expectCorrupt(t, { path: t.file, reason: /no manifest/ });
  });

  test('a manifest that is a link is not followed', async () => {
    await using t = await withBad();
    await rename(t.file, `${t.file}.real`);
    await symlink(`${t.file}.real`, t.file);
    await expectCorrupt(t, { path: t.file, reason: /not a regular file/ });
  });

  test('an instance directory that is a link is refused', async () => {
    await using t = await withBad();
    const elsewhere = join(t.paths.homeDir, 'elsewhere');
    await rename(t.dir, elsewhere);
    await symlink(elsewhere, t.dir);
    await expectCorrupt(t, { path: t.dir, reason: /symbolic link/ });
    await expect(t.store.create(BAD)).rejects.toMatchObject({ code: 'INSTANCE_EXISTS' });
  });

  test('a record directory that is a link is refused', async () => {
    await using t = await withBad();
    const meta = join(t.dir, '.jackin');
    await rename(meta, `${meta}.real`);
    await symlink(`${meta}.real`, meta);
    await expectCorrupt(t, { path: meta, reason: /symbolic link/ });
  });

  test('nesting that cannot be rewritten fails by name and is not overwritten', async () => {
    await using t = await withBad();
    const text = JSON.stringify(BAD).replace('{', `{"deep":${'['.repeat(5000)}${']'.repeat(5000)},`);
    await writeFile(t.file, text);
    expect((await t.store.load()).instances).toHaveLength(3);
    await expect(
      t.store.update(BAD.container_base, (m) => ({ ...m, status: 'running' })),
    ).rejects.toMatchObject({
      code: 'MANIFEST_CORRUPT',
      details: { reason: expect.stringContaining('nested deeper') },
    });
    expect(await readFile(t.file, 'utf8')).toBe(text);
  });
});

test('a copy of an instance directory and a directory of a strange name are shown, not taken for instances', async () => {
  await using t = await withBad();
  const { dataDir } = t.paths;
  await mkdir(join(dataDir, 'jk-copy.bak/.jackin'), { recursive: true });
  await writeFile(join(dataDir, 'jk-copy.bak/.jackin/instance.json'), await readFile(t.file));
  await mkdir(join(dataDir, 'jk-not a name'));
  const { instances, corrupt } = await t.store.load();
  expect(instances).toHaveLength(3);
  expect(
    corrupt.map(({ container_base, instance_id, reason }) => [container_base, instance_id, reason]),
  ).toEqual([
    ['jk-copy.bak', null, expect.stringContaining('belongs to')],
    ['jk-not a name', null, 'not an instance name'],
  ]);
});

describe('isolation.json', () => {
  test.each<[string, string, RegExp]>([
    ['holds null', 'null', /expected object/],
    ['is cut', '{"version": 1, "records": [', /not valid JSON/],
    ['is newer', '{"version": 2, "records": []}', /newer/],
    ['has a record that is none', '{"version": 1, "records": [{}]}', /^records\.0/],
  ])('that %s is corrupt, not absent', async (_title, text, reason) => {
    await using t = await withBad();
    const { isolation } = t.paths.instance(BAD.container_base);
    expect(await t.store.readIsolation(BAD.container_base)).toEqual({ state: 'absent' });
    await writeFile(isolation, text);
    expect(await t.store.readIsolation(BAD.container_base)).toEqual({
      state: 'corrupt',
      reason: expect.stringMatching(reason),
    });
  });
});
