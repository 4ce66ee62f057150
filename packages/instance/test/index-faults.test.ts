import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { makeManifest, makeStore, noticeCodes, readJson, snapshot, type TestStore } from './helpers.ts';

const IDS = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'];

async function three(): Promise<TestStore & { index: Buffer }> {
  const t = await makeStore();
  for (const id of IDS) await t.store.create(makeManifest(id));
  return { ...t, index: await readFile(t.paths.indexFile) };
}

const idsOf = (records: { instance_id: string }[]) => records.map((record) => record.instance_id).sort();
const asideOf = async (t: TestStore) =>
  (await readdir(t.paths.dataDir)).filter((name) => /^instances\.json\.(corrupt|newer)-/.test(name));

describe('an index that cannot be used hides nothing', () => {
  const { container_base: _base, ...rest } = makeManifest('dddddddd');
  const row = { ...rest, container_base: '../../etc' };
  const contents: [string, string | Buffer, 'corrupt' | 'other_version'][] = [
    ['empty', '', 'corrupt'],
    ['NUL-filled', Buffer.alloc(700), 'corrupt'],
    ['null (O38)', 'null', 'corrupt'],
    ['garbage', 'garbage', 'corrupt'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'corrupt'],
    ['a list', '[]', 'corrupt'],
    ['without a version', '{"instances": []}', 'corrupt'],
    ['without rows', '{"version": 1}', 'corrupt'],
    ['with a row that is no row', '{"version": 1, "instances": [null]}', 'corrupt'],
    ['with a row that names a place elsewhere', JSON.stringify({ version: 1, instances: [row] }), 'corrupt'],
    ['of a newer version', '{"version": 2, "instances": {"new": "form"}}', 'other_version'],
    ['of version 0', '{"version": 0, "instances": []}', 'other_version'],
  ];

  test.each(contents)('%s', async (_title, content, indexState) => {
    await using t = await three();
    await writeFile(t.paths.indexFile, content);
    const before = await snapshot(t.paths.homeDir);
    const state = await t.store.load();
    await t.store.load();
    expect(idsOf(state.instances)).toEqual(IDS);
    expect(state).toMatchObject({ indexState, corrupt: [], rowsWithoutManifest: [] });
    expect(state.notices).toHaveLength(1);
    expect(noticeCodes(t.events)).toEqual([state.notices[0]?.code]);
    expect(await snapshot(t.paths.homeDir)).toEqual(before);

    await t.store.rebuildIndex();
    expect(await readFile(t.paths.indexFile, 'utf8')).toBe(t.index.toString());
    expect((await t.store.load()).indexState).toBe('ok');
    const [aside, ...others] = await asideOf(t);
    expect(others).toEqual([]);
    expect((await readFile(join(t.paths.dataDir, aside as string))).equals(Buffer.from(content))).toBe(true);
    expect(aside).toContain(String(content).includes('"version": 2') ? '.newer-' : '.corrupt-');
    expect(noticeCodes(t.events).slice(1)).toEqual(['INDEX_SET_ASIDE', 'INDEX_REBUILT']);
  });

  test('missing', async () => {
    await using t = await three();
    await rm(t.paths.indexFile);
    const state = await t.store.load();
    expect(idsOf(state.instances)).toEqual(IDS);
    expect(state.indexState).toBe('missing');
    expect(noticeCodes(t.events)).toEqual(['INDEX_MISSING']);
    await t.store.rebuildIndex();
    expect(await readFile(t.paths.indexFile, 'utf8')).toBe(t.index.toString());
    expect(await asideOf(t)).toEqual([]);
  });

  test('missing because nothing was ever stored is no notice and makes no directory', async () => {
    await using t = await makeStore();
    expect(await t.store.load()).toMatchObject({ instances: [], indexState: 'missing', notices: [] });
    expect(t.events).toEqual([]);
    expect(await snapshot(t.paths.homeDir)).toEqual({});
  });

  test('O57: cut at any byte', async () => {
    await using t = await three();
    const end = t.index.length - 1;
    // Every byte near the ends, where the form changes, every fifth between.
    for (let length = 0; length < end; length += length < 60 || length > end - 60 ? 1 : 5) {
      await writeFile(t.paths.indexFile, t.index.subarray(0, length));
      const state = await t.store.load();
      expect([length, idsOf(state.instances), state.indexState]).toEqual([length, IDS, 'corrupt']);
    }
    await t.store.update(makeManifest('aaaaaaaa').container_base, (m) => ({ ...m, status: 'running' }));
    const state = await t.store.load();
    expect(state.indexState).toBe('ok');
    expect(state.rows.map((one) => one.status).sort()).toEqual(['active', 'active', 'running']);
    expect(await asideOf(t)).toHaveLength(1);
  });

  test('a symbolic link is not followed, and setting it aside leaves its target alone', async () => {
    await using t = await three();
    const target = join(t.paths.homeDir, 'elsewhere.json');
    await writeFile(target, t.index);
    await rm(t.paths.indexFile);
    await symlink(target, t.paths.indexFile);
    const state = await t.store.load();
    expect([state.indexState, idsOf(state.instances)]).toEqual(['corrupt', IDS]);
    await t.store.rebuildIndex();
    expect((await t.store.load()).indexState).toBe('ok');
    expect(await readFile(target, 'utf8')).toBe(t.index.toString());
  });

  test('a directory', async () => {
    await using t = await three();
    await rm(t.paths.indexFile);
    await mkdir(t.paths.indexFile);
    expect(await t.store.load()).toMatchObject({ indexState: 'corrupt' });
    await t.store.rebuildIndex();
    expect((await t.store.load()).indexState).toBe('ok');
  });

  test('a removed row of an index that cannot be used does not come back', async () => {
    await using t = await three();
    const [one] = IDS.map((id) => makeManifest(id));
    await rm(t.paths.instance(one?.container_base as string).dir, { recursive: true });
    const document = JSON.parse(t.index.toString());
    await writeFile(
      t.paths.indexFile,
      JSON.stringify({ ...document, instances: [...document.instances, null] }),
    );
    await t.store.removeRow(one?.container_base as string);
    const state = await t.store.load();
    expect(state).toMatchObject({ indexState: 'ok', rowsWithoutManifest: [] });
    expect(idsOf(state.rows)).toEqual(IDS.slice(1));
  });
});

describe('a readable index', () => {
  test('that says something else than the manifests is stale and the manifests win', async () => {
    await using t = await three();
    const document = JSON.parse(t.index.toString());
    document.instances[0].status = 'purged';
    document.instances.pop();
    await writeFile(t.paths.indexFile, JSON.stringify(document));
    const state = await t.store.load();
    expect(state.indexState).toBe('stale');
    expect(idsOf(state.instances)).toEqual(IDS);
    expect(state.instances.every(({ status }) => status === 'active')).toBe(true);
    await t.store.rebuildIndex();
    expect(await readFile(t.paths.indexFile, 'utf8')).toBe(t.index.toString());
    expect(await asideOf(t)).toEqual([]);
  });

  test('with two rows for one instance is stale and gets one', async () => {
    await using t = await three();
    const document = JSON.parse(t.index.toString());
    await writeFile(
      t.paths.indexFile,
      JSON.stringify({ ...document, instances: [...document.instances, document.instances[0]] }),
    );
    expect((await t.store.load()).indexState).toBe('stale');
    await t.store.update(document.instances[0].container_base, (m) => m);
    expect(await readFile(t.paths.indexFile, 'utf8')).toBe(t.index.toString());
  });

  test('keeps members we do not know, at the top and in rows', async () => {
    await using t = await three();
    const document = JSON.parse(t.index.toString());
    document.written_by = 'another jackin';
    for (const row of document.instances) row.colour = 'green';
    await writeFile(t.paths.indexFile, JSON.stringify(document));
    await t.store.update(makeManifest('bbbbbbbb').container_base, (m) => ({ ...m, status: 'running' }));
    await t.store.rebuildIndex();
    const written = await readJson(t.paths.indexFile);
    expect(written.written_by).toBe('another jackin');
    expect((written.instances as { colour: string }[]).map(({ colour }) => colour)).toEqual([
      'green',
      'green',
      'green',
    ]);
  });
});

test('a state directory that cannot be listed is an error, not an empty list', async () => {
  await using t = await three();
  if (process.getuid?.() === 0) {
    // Root may list any directory: a file where the directory should be cannot be listed by anybody.
    await rm(t.paths.socketsDir, { recursive: true, force: true });
    await writeFile(t.paths.socketsDir, '');
  } else {
    await chmod(t.paths.dataDir, 0o300);
  }
  await expect(t.store.load()).rejects.toMatchObject({ code: 'STATE_NOT_READABLE' });
  if (process.getuid?.() !== 0) await chmod(t.paths.dataDir, 0o700);
});
