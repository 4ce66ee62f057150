import { readFile } from 'node:fs/promises';
import { isRestorable } from '@jackin/instance';
import { expect, test } from '@jest/globals';
import { makeStore, NOW, readJson, SAMPLE_BASE, snapshot } from './helpers.ts';

test('the state of the Rust jackin loads with its status, docker names and isolation record', async () => {
  await using t = await makeStore({ sample: true });
  const state = await t.store.load();
  expect(state).toMatchObject({ indexState: 'ok', corrupt: [], rowsWithoutManifest: [], notices: [] });
  expect(state.instances).toHaveLength(1);
  expect(state.instances[0]).toMatchObject({
    instance_id: 'k7p9m2xq',
    container_base: SAMPLE_BASE,
    status: 'preserved_dirty',
    last_attach_outcome: 'exit:0',
    role_source_ref: null,
    base_image_digest: null,
    docker: { certs_volume: `${SAMPLE_BASE}-dind-certs` },
  });
  expect(state.instances.every((manifest) => isRestorable(manifest, { dataExists: true }))).toBe(true);
  const isolation = await t.store.readIsolation(SAMPLE_BASE);
  expect(isolation).toMatchObject({
    state: 'ok',
    records: [
      {
        mount_dst: '/workspace/proj',
        isolation: 'worktree',
        base_commit: '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
        cleanup_status: 'preserved_dirty',
      },
    ],
  });
});

test('looking writes nothing', async () => {
  await using t = await makeStore({ sample: true });
  const before = await snapshot(t.paths.homeDir);
  await t.store.load();
  await t.store.resolve('k7p');
  await t.store.read(SAMPLE_BASE);
  await t.store.readIsolation(SAMPLE_BASE);
  expect(await snapshot(t.paths.homeDir)).toEqual(before);
});

test('a status change changes status and updated_at, in manifest and row, which learns where it lives, and nothing else', async () => {
  await using t = await makeStore({ sample: true });
  const { manifest } = t.paths.instance(SAMPLE_BASE);
  const before = await readFile(manifest, 'utf8');
  const isolationBefore = await readFile(t.paths.instance(SAMPLE_BASE).isolation, 'utf8');
  const rowsBefore = await readJson(t.paths.indexFile);
  const updated = await t.store.update(SAMPLE_BASE, (value) => ({ ...value, status: 'active' }));
  expect(updated).toMatchObject({ status: 'active', updated_at: NOW });
  const expected = { ...JSON.parse(before), status: 'active', updated_at: NOW };
  expect(await readFile(manifest, 'utf8')).toBe(`${JSON.stringify(expected, null, 2)}\n`);
  const row = (rowsBefore.instances as object[])[0];
  const rowAfter = { ...row, status: 'active', updated_at: NOW, backend: 'docker' };
  expect(await readFile(t.paths.indexFile, 'utf8')).toBe(
    `${JSON.stringify({ version: 1, instances: [rowAfter] }, null, 2)}\n`,
  );
  expect(await readFile(t.paths.instance(SAMPLE_BASE).isolation, 'utf8')).toBe(isolationBefore);
});
