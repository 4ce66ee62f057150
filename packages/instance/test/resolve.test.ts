import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseName } from '@jackin/instance';
import { expect, test } from '@jest/globals';
import { makeManifest, makeStore } from './helpers.ts';

test('an instance is found by id, base name, or an unambiguous prefix of either', async () => {
  await using t = await makeStore();
  const one = makeManifest('k7p9m2xq');
  const two = makeManifest('k7aaaaaa');
  for (const manifest of [one, two]) await t.store.create(manifest);
  for (const selector of ['k7p9m2xq', 'k7p', 'jk-k7p', one.container_base]) {
    expect(await t.store.resolve(selector)).toEqual({
      instance_id: 'k7p9m2xq',
      container_base: one.container_base,
      manifest: one,
    });
  }
  for (const selector of ['k7', 'jk', 'jk-k7']) {
    await expect(t.store.resolve(selector)).rejects.toMatchObject({
      code: 'INSTANCE_AMBIGUOUS',
      message: expect.stringMatching(/jk-k7aaaaaa-shell.*|jk-k7p9m2xq-shell/),
      details: {
        matches: expect.arrayContaining([{ instance_id: 'k7p9m2xq', container_base: one.container_base }]),
      },
    });
  }
  for (const selector of ['', 'x', 'k7p9m2xqq', 'K7P', '../', 'shell']) {
    await expect(t.store.resolve(selector)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  }
});

test('an exact name wins over the longer names that begin with it', async () => {
  await using t = await makeStore();
  const short = makeManifest('k7p9m2xq', { role_key: 'a' });
  const base = baseName({ instanceId: 'k7p9m2xq', workspace: null, role: 'sh' });
  const named = { ...short, container_base: base };
  await t.store.create(named);
  await t.store.create({ ...makeManifest('k7p9m2xq'), instance_id: 'k7p9m2xq' });
  expect((await t.store.resolve(base)).container_base).toBe(base);
  await expect(t.store.resolve('k7p9m2xq')).rejects.toMatchObject({ code: 'INSTANCE_AMBIGUOUS' });
});

test('leftovers are told apart: locks and socket directories without an instance, the index lock excepted', async () => {
  await using t = await makeStore();
  const kept = makeManifest('aaaaaaaa');
  await t.store.create(kept);
  const { dataDir, socketsDir } = t.paths;
  for (const name of ['jk-bbbbbbbb-shell.lock', `${kept.container_base}.lock`])
    await writeFile(join(dataDir, name), '{}');
  await mkdir(join(dataDir, 'jk-cccccccc-shell.lock.d'));
  for (const base of [kept.container_base, 'jk-dddddddd-shell'])
    await mkdir(join(socketsDir, base), { recursive: true });
  const state = await t.store.load();
  expect(state.instances).toHaveLength(1);
  expect(state.corrupt).toEqual([]);
  expect(state.lockOnly).toEqual(['jk-bbbbbbbb-shell', 'jk-cccccccc-shell']);
  expect(state.socketOnly).toEqual(['jk-dddddddd-shell']);
  await rm(t.paths.instance(kept.container_base).dir, { recursive: true });
  expect((await t.store.load()).lockOnly).toContain(kept.container_base);
});
