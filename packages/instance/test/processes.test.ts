import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { makeManifest, makeStore, snapshot, type TestStore } from './helpers.ts';

const PROGRAM = fileURLToPath(new URL('programs/save-loop.ts', import.meta.url));

interface SaveLoop extends Disposable {
  child: ChildProcess;
  lines: Interface;
  /** Exit code and signal. */
  closed: Promise<unknown[]>;
}

function saveLoop(t: TestStore, base: string, rounds: number): SaveLoop {
  const home = dirname(t.paths.homeDir);
  const child = spawn(
    process.execPath,
    ['--conditions=@jackin/source', PROGRAM, home, base, String(rounds)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return {
    child,
    lines: createInterface({ input: child.stdout }),
    closed: once(child, 'close'),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

test('O57: a writer killed at any moment leaves every record and an index that is true or can be rebuilt', async () => {
  await using t = await makeStore();
  const [one, other] = [makeManifest('aaaaaaaa'), makeManifest('bbbbbbbb')];
  for (const manifest of [one, other]) await t.store.create(manifest);
  for (let kill = 0; kill < 5; kill += 1) {
    using loop = saveLoop(t, one.container_base, 100_000);
    const { child, lines, closed } = loop;
    let seen = 0;
    for await (const _line of lines) {
      seen += 1;
      if (seen > kill * 3) break;
    }
    child.kill('SIGKILL');
    expect(await closed).toEqual([null, 'SIGKILL']);
    const state = await t.store.load();
    expect(state.corrupt).toEqual([]);
    expect(state.instances.map(({ instance_id }) => instance_id).sort()).toEqual(['aaaaaaaa', 'bbbbbbbb']);
    expect(['ok', 'stale']).toContain(state.indexState);
  }
  await t.store.update(one.container_base, (m) => m);
  await t.store.rebuildIndex();
  expect((await t.store.load()).indexState).toBe('ok');
}, 120_000);

test('two processes that update at once lose neither a change nor a row', async () => {
  await using t = await makeStore();
  const [one, two] = [makeManifest('aaaaaaaa'), makeManifest('bbbbbbbb')];
  for (const manifest of [one, two]) await t.store.create(manifest);
  using first = saveLoop(t, one.container_base, 15);
  using second = saveLoop(t, one.container_base, 15);
  using other = saveLoop(t, two.container_base, 15);
  for (const { closed } of [first, second, other]) expect(await closed).toEqual([0, null]);
  expect((await t.store.read(one.container_base))?.rounds).toBe(30);
  expect((await t.store.read(two.container_base))?.rounds).toBe(15);
  expect((await t.store.load()).indexState).toBe('ok');
}, 120_000);

/** A small file system of our own as root; otherwise only the read-only half of it, by mode. */
async function smallHome(): Promise<AsyncDisposable & { home: string; root: boolean }> {
  const home = await mkdtemp(join(tmpdir(), 'jackin-small-'));
  const root = process.platform === 'linux' && process.getuid?.() === 0;
  if (root) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'tmpfs', home]);
  return {
    home,
    root,
    async [Symbol.asyncDispose]() {
      if (root) execFileSync('umount', [home]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

test('O58: on a full or read-only disk a write fails by name and leaves the old state', async () => {
  await using small = await smallHome();
  await using t = await makeStore({ home: small.home });
  const kept = makeManifest('aaaaaaaa');
  await t.store.create(kept);
  await mkdir(t.paths.dataDir, { recursive: true });
  const data = t.paths.dataDir;
  const stateOf = async () => {
    const { instances, corrupt, indexState } = await t.store.load();
    return { instances, corrupt, indexState };
  };
  const before = { state: await stateOf(), files: Object.keys(await snapshot(data)) };
  const expectRefused = async (code: RegExp) => {
    const change = t.store.update(kept.container_base, (m) => ({ ...m, status: 'running' }));
    await expect(change).rejects.toMatchObject({
      code: expect.stringMatching(code),
      hint: expect.any(String),
    });
    await expect(t.store.create(makeManifest('bbbbbbbb'))).rejects.toMatchObject({
      code: expect.stringMatching(code),
    });
    expect({ state: await stateOf(), files: Object.keys(await snapshot(data)) }).toEqual(before);
  };
  if (small.root) {
    const filler = join(small.home, 'filler');
    await expect(writeFile(filler, Buffer.alloc(512 * 1024, 1))).rejects.toMatchObject({ code: 'ENOSPC' });
    await expectRefused(/^DISK_FULL$/);
    // Room for the lock, not for the manifest: what was made for it is taken back.
    await truncate(filler, (await stat(filler)).size - 32 * 1024);
    const large = makeManifest('bbbbbbbb', { role_display_name: 'x'.repeat(100_000) });
    await expect(t.store.create(large)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('instance.json'),
    });
    expect(Object.keys(await snapshot(data))).toEqual(before.files);
    await rm(filler);
    execFileSync('mount', ['-o', 'remount,ro', small.home]);
    await expectRefused(/^STATE_NOT_WRITABLE$/);
    execFileSync('mount', ['-o', 'remount,rw', small.home]);
  } else {
    for (const path of [t.paths.instance(kept.container_base).meta, data]) await chmod(path, 0o500);
    await expectRefused(/^STATE_NOT_WRITABLE$/);
    for (const path of [data, t.paths.instance(kept.container_base).meta]) await chmod(path, 0o700);
  }
  await t.store.update(kept.container_base, (m) => ({ ...m, status: 'running' }));
  expect((await t.store.load()).instances[0]?.status).toBe('running');
}, 120_000);
