import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInstanceStore, type Manifest } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import { makeManifest, makeStore, NOW, readJson, snapshot } from './helpers.ts';

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('create', () => {
  test('makes private directories, a pretty manifest in the documented order, and a row', async () => {
    await using t = await makeStore();
    const manifest = makeManifest('k7p9m2xq', { status: 'active' });
    const { version, ...rest } = manifest;
    await t.store.create({ ...rest, version });
    const where = t.paths.instance(manifest.container_base);
    for (const path of [t.paths.dataDir, where.dir, where.meta, where.home, where.state]) {
      expect(await modeOf(path)).toBe('700');
    }
    expect(await modeOf(where.manifest)).toBe('600');
    expect(await modeOf(t.paths.indexFile)).toBe('600');
    const text = await readFile(where.manifest, 'utf8');
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
    expect(Object.keys(JSON.parse(text)).slice(0, 3)).toEqual(['version', 'instance_id', 'container_base']);
    const state = await t.store.load();
    expect(state.instances).toEqual([manifest]);
    expect(state.indexState).toBe('ok');
  });

  test('a name that is taken is refused and what is there stays', async () => {
    await using t = await makeStore();
    const manifest = makeManifest('k7p9m2xq');
    await t.store.create(manifest);
    const before = await snapshot(t.paths.instance(manifest.container_base).dir);
    await expect(t.store.create({ ...manifest, workdir: '/other' })).rejects.toMatchObject({
      code: 'INSTANCE_EXISTS',
      details: { container_base: manifest.container_base },
    });
    expect(await snapshot(t.paths.instance(manifest.container_base).dir)).toEqual(before);
    expect((await t.store.load()).instances).toHaveLength(1);
  });

  test('what a killed launch half made is no record, and the next launch removes it', async () => {
    await using t = await makeStore();
    await t.store.create(makeManifest('aaaaaaaa'));
    const half = join(t.paths.dataDir, '.new-jk-bbbbbbbb-shell');
    await mkdir(join(half, '.jackin'), { recursive: true });
    expect(await t.store.load()).toMatchObject({ corrupt: [], indexState: 'ok' });
    expect(existsSync(half)).toBe(true);
    await t.store.create(makeManifest('cccccccc'));
    expect(existsSync(half)).toBe(false);
    expect((await t.store.load()).instances).toHaveLength(2);
  });

  test('rows are newest first', async () => {
    await using t = await makeStore();
    const times = ['2026-07-02T00:00:00Z', '2026-07-03T00:00:00+02:00', '2026-07-01T00:00:00.500Z'];
    for (const [index, updated_at] of times.entries()) {
      await t.store.create(makeManifest(`aaaaaaa${index}`, { updated_at }));
    }
    const order = ['aaaaaaa1', 'aaaaaaa0', 'aaaaaaa2'];
    const state = await t.store.load();
    expect(state.instances.map(({ instance_id }) => instance_id)).toEqual(order);
    expect(state.rows.map(({ instance_id }) => instance_id)).toEqual(order);
  });

  test('what lies where the index should be is set aside under a name that is free', async () => {
    await using t = await makeStore();
    const taken = `${t.paths.indexFile}.corrupt-20260801T100000_000Z`;
    for (const path of [t.paths.dataDir, join(t.paths.indexFile, 'in-the-way'), taken]) {
      await mkdir(path, { recursive: true, mode: 0o700 });
    }
    await t.store.create(makeManifest('k7p9m2xq'));
    expect((await t.store.load()).indexState).toBe('ok');
    expect((await stat(join(`${taken}-2`, 'in-the-way'))).isDirectory()).toBe(true);
  });

  test('when the row cannot be written, nothing of the instance is left', async () => {
    await using t = await makeStore();
    await t.store.create(makeManifest('aaaaaaaa'));
    await writeFile(t.paths.indexFile, 'garbage');
    const before = Object.keys(await snapshot(t.paths.homeDir));
    const manifest = makeManifest('bbbbbbbb');
    // The time is part of the name under which the garbage would be kept.
    const now = () => {
      if (existsSync(t.paths.instance(manifest.container_base).manifest)) throw new Error('no clock');
      return t.clock.now();
    };
    const store = createInstanceStore({
      paths: t.paths,
      events: () => undefined,
      clock: { ...t.clock, now },
    });
    await expect(store.create(manifest)).rejects.toThrow('no clock');
    expect(Object.keys(await snapshot(t.paths.homeDir))).toEqual(before);
    expect(await readFile(t.paths.indexFile, 'utf8')).toBe('garbage');
  });
});

describe('update', () => {
  async function started(change: Partial<Manifest> = {}) {
    const t = await makeStore();
    const manifest = makeManifest('k7p9m2xq', change);
    await t.store.create(manifest);
    return { ...t, base: manifest.container_base, manifest };
  }

  test('an illegal transition is refused and nothing is written', async () => {
    await using t = await started({ status: 'superseded' });
    const before = await snapshot(t.paths.homeDir);
    await expect(t.store.update(t.base, (m) => ({ ...m, status: 'running' }))).rejects.toMatchObject({
      code: 'ILLEGAL_TRANSITION',
    });
    expect(await readJson(t.paths.instance(t.base).manifest)).toMatchObject({ status: 'superseded' });
    const after = await snapshot(t.paths.homeDir);
    expect(after['data/jk-k7p9m2xq-shell/.jackin/instance.json']).toBe(
      before['data/jk-k7p9m2xq-shell/.jackin/instance.json'],
    );
    expect(after['data/instances.json']).toBe(before['data/instances.json']);
  });

  test('a change that changes nothing does not touch manifest or index', async () => {
    await using t = await started();
    const files = [t.paths.instance(t.base).manifest, t.paths.indexFile];
    const times = async () =>
      Promise.all(files.map(async (file) => (await stat(file, { bigint: true })).mtimeNs));
    const before = await times();
    expect(await t.store.update(t.base, (m) => ({ ...m }))).toEqual(t.manifest);
    expect(await times()).toEqual(before);
  });

  test('a change that changes nothing still heals a lost row', async () => {
    await using t = await started();
    await t.store.removeRow(t.base);
    expect((await t.store.load()).indexState).toBe('stale');
    await t.store.update(t.base, (m) => m);
    expect((await t.store.load()).indexState).toBe('ok');
  });

  test('members no schema knows keep value, spelling and place, in the manifest and below', async () => {
    await using t = await started();
    const { manifest } = t.paths.instance(t.base);
    const text = JSON.stringify(await readJson(manifest))
      .replace('{"version":2', '{"first":{"b":1.0,"7":[]},"version":2,"big":98765432109876543210')
      .replace('"docker":{', '"docker":{"later":"\\u00e9",');
    await writeFile(manifest, text);
    await t.store.update(t.base, (m) => ({ ...m, status: 'running', engine: { endpoint: 'unix:///x' } }));
    const lines = (await readFile(manifest, 'utf8')).split('\n').map((line) => line.trim());
    expect(lines.slice(0, 6)).toEqual(['{', '"first": {', '"b": 1.0,', '"7": []', '},', '"version": 2,']);
    expect(lines).toContain('"big": 98765432109876543210,');
    expect(lines[lines.indexOf('"docker": {') + 1]).toBe('"later": "\\u00e9",');
    expect((await t.store.read(t.base))?.status).toBe('running');
  });

  test('a field can be cleared, and O62: what named a process of an earlier run goes while the session stays', async () => {
    await using t = await started({
      backend: { standalone: { pid: 4242, start_time: '1', boot_id: 'b' } },
      exit_cause: { kind: 'killed', at: NOW, evidence: [] },
      resume: { claude: { token: 't', cwd: '/src/p', captured_at: NOW, source: 'assigned' } },
    });
    await t.store.update(t.base, (m) => ({
      ...m,
      backend: undefined,
      exit_cause: undefined,
      status: 'stopped',
    }));
    const written = await readJson(t.paths.instance(t.base).manifest);
    expect(written).not.toHaveProperty('backend');
    expect(written).not.toHaveProperty('exit_cause');
    expect(written).toHaveProperty('resume.claude.token', 't');
  });

  test('the change may edit its argument in place', async () => {
    await using t = await started();
    await t.store.update(t.base, (m) => {
      m.status = 'running';
      m.docker.network = 'other';
      return m;
    });
    expect(await readJson(t.paths.instance(t.base).manifest)).toMatchObject({
      status: 'running',
      updated_at: NOW,
      docker: { network: 'other' },
    });
  });

  test.each<[string, Partial<Manifest>]>([
    ['instance_id', { instance_id: 'other000' }],
    ['container_base', { container_base: 'jk-other000-shell' }],
    ['created_at', { created_at: NOW }],
  ])('%s cannot be changed', async (field, change) => {
    await using t = await started();
    await expect(t.store.update(t.base, (m) => ({ ...m, ...change }))).rejects.toThrow(field);
    expect(await t.store.read(t.base)).toEqual(t.manifest);
  });

  test('an instance that is not there is named', async () => {
    await using t = await started();
    await expect(t.store.update('jk-zzzzzzzz-shell', (m) => m)).rejects.toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
    expect(await t.store.read('jk-zzzzzzzz-shell')).toBeNull();
  });
});

describe('after a removal', () => {
  test('the row alone is left until it is removed, and removing it again is fine', async () => {
    await using t = await makeStore();
    const [one, two] = [makeManifest('aaaaaaaa'), makeManifest('bbbbbbbb')];
    await t.store.create(one);
    await t.store.create(two);
    await rm(t.paths.instance(one.container_base).dir, { recursive: true });
    await t.store.rebuildIndex();
    const state = await t.store.load();
    expect(state.rowsWithoutManifest.map((row) => row.container_base)).toEqual([one.container_base]);
    expect(state.indexState).toBe('ok');
    expect(await t.store.resolve('aaa')).toEqual({
      instance_id: 'aaaaaaaa',
      container_base: one.container_base,
      manifest: null,
    });
    await t.store.removeRow(one.container_base);
    await t.store.removeRow(one.container_base);
    const after = await t.store.load();
    expect(after.rowsWithoutManifest).toEqual([]);
    expect(after.rows.map((row) => row.container_base)).toEqual([two.container_base]);
  });

  test('a directory that lost its manifest is a clean-up to finish when its row says purged, else a corrupt record', async () => {
    await using t = await makeStore();
    const { container_base: base } = makeManifest('aaaaaaaa');
    await t.store.create(makeManifest('aaaaaaaa'));
    const { manifest } = t.paths.instance(base);
    await t.store.update(base, (m) => ({ ...m, status: 'purged' }));
    const text = await readFile(manifest, 'utf8');
    await rm(manifest);
    const state = await t.store.load();
    expect([state.corrupt, state.rowsWithoutManifest.map((row) => row.status)]).toEqual([[], ['purged']]);
    expect(await t.store.resolve('aaa')).toMatchObject({ container_base: base, manifest: null });
    // Damaged is not missing.
    await writeFile(manifest, text.slice(0, -10));
    expect((await t.store.load()).corrupt).toMatchObject([{ container_base: base, path: manifest }]);
    await rm(manifest);
    await t.store.removeRow(base);
    expect((await t.store.load()).corrupt).toMatchObject([{ reason: 'no manifest' }]);
  });

  test('a decision file of an older jackin is deleted unread', async () => {
    await using t = await makeStore();
    const { container_base: base } = makeManifest('aaaaaaaa');
    await t.store.create(makeManifest('aaaaaaaa'));
    const file = join(t.paths.instance(base).state, 'exit-action.json');
    expect(await t.store.dropLegacyExitAction(base)).toBe(false);
    await writeFile(file, '"discard"');
    expect(await t.store.dropLegacyExitAction(base)).toBe(true);
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(file);
    expect(await t.store.dropLegacyExitAction(base)).toBe(false);
    // The container can put a link in place of its directory.
    const elsewhere = join(t.paths.instance(base).dir, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'exit-action.json'), 'mine');
    await rm(t.paths.instance(base).state, { recursive: true });
    await symlink(elsewhere, t.paths.instance(base).state);
    expect(await t.store.dropLegacyExitAction(base)).toBe(false);
    expect(await readFile(join(elsewhere, 'exit-action.json'), 'utf8')).toBe('mine');
  });
});
