import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolvePaths, systemClock } from '@jackin/core';
import { createInstanceStore } from '@jackin/instance';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { snapshot } from './support/evidence.ts';
import { hasNotes, type Instance, killInstance, writeNotes } from './support/instance.ts';
import { newSeed, randomFrom } from './support/random.ts';
import { createSandbox, type Sandbox } from './support/sandbox.ts';

const MINUTES = 60_000;
const SEED = newSeed();

let sandbox: Sandbox;
/** One that runs and one that was kept, both made by the real binary. */
let running: Instance;
let kept: Instance;
let index: string;
/** The index as the binary wrote it. */
let whole: Buffer;

async function twoInstances(): Promise<void> {
  sandbox = createSandbox();
  running = await sandbox.loadShell(['sleep', '1000']);
  kept = await sandbox.loadShell(['sleep', '1000']);
  writeNotes(sandbox, kept);
  expect((await sandbox.jackin(['stop', kept.id, '--keep'])).code).toBe(0);
  index = join(sandbox.state, 'data/instances.json');
  whole = readFileSync(index);
}

const asides = () =>
  readdirSync(join(sandbox.state, 'data')).filter((name) => /^instances\.json\.(corrupt|newer)-/.test(name));

/** `status --json` shows both as they are, and exactly these notices. */
async function expectBothListed(notices: string[]): Promise<void> {
  const { code, stderr, json } = await sandbox.jackin(['status', '--json']);
  const { data } = json();
  expect({
    code,
    stack: /^ {4}at /m.test(stderr),
    rows: Object.fromEntries(data.instances.map((row: any) => [row.instance_id, row.status])),
    corrupt: data.corrupt,
    notices: data.notices.map((notice: any) => notice.code),
  }).toEqual({
    code: 0,
    stack: false,
    rows: { [running.id]: 'running', [kept.id]: 'restore_available' },
    corrupt: [],
    notices,
  });
}

describe('an index that cannot be used', () => {
  beforeAll(twoInstances);
  afterAll(() => sandbox.dispose());
  beforeEach(() => writeFileSync(index, whole, { mode: 0o600 }));
  afterEach(() => {
    for (const name of asides()) rmSync(join(sandbox.state, 'data', name));
  });

  test(
    `O57: cut at 50 random places it hides no session, and is rebuilt with a notice (JACKIN_TEST_SEED=${SEED})`,
    async () => {
      const random = randomFrom(SEED);
      // Without its last line break alone it is still whole.
      const cuts = Array.from({ length: 50 }, () => Math.floor(random() * (whole.length - 1)));
      for (const [at, length] of cuts.entries()) {
        const cut = whole.subarray(0, length);
        writeFileSync(index, cut);
        if (at % 10 === 0) await expectRebuilt({ found: cut, notice: 'INDEX_CORRUPT' });
        else
          expect({ length, ...(await loadedFrom(sandbox)) }).toEqual({ length, ...LOADED, index: 'corrupt' });
      }
    },
    3 * MINUTES,
  );

  const faults: [string, () => Buffer | null, string][] = [
    ['missing', () => null, 'INDEX_MISSING'],
    ['filled with NUL bytes', () => Buffer.alloc(whole.length), 'INDEX_CORRUPT'],
    ['of zero bytes', () => Buffer.alloc(0), 'INDEX_CORRUPT'],
    ['garbage', () => Buffer.from('garbage'), 'INDEX_CORRUPT'],
    ['the four bytes null', () => Buffer.from('null'), 'INDEX_CORRUPT'],
    ['of a newer version', () => Buffer.from('{"version": 2, "shards": {"a": []}}\n'), 'INDEX_OTHER_VERSION'],
  ];
  test.each(faults)(
    '%s, hides no session and is rebuilt with a notice',
    async (_title, content, notice) => {
      const found = content();
      if (found === null) rmSync(index);
      else writeFileSync(index, found);
      await expectRebuilt({ found, notice });
    },
    MINUTES,
  );

  test(
    'keeps nothing from being resumed or started',
    async () => {
      writeFileSync(index, Buffer.alloc(100));
      const resumed = await sandbox.jackin(['resume', kept.id, '--detach', '--json']);
      expect(resumed.json().data).toMatchObject({ tier: 1, status: 'running' });
      expect(resumed.stderr).toContain('rebuilt');
      expect(hasNotes(sandbox, kept)).toBe(true);
      writeFileSync(index, whole.subarray(0, 100));
      const started = await sandbox.loadShell(['sleep', '1000']);
      const { instances } = JSON.parse(readFileSync(index, 'utf8'));
      expect(instances.map((row: any) => row.instance_id).sort()).toEqual(
        [running.id, kept.id, started.id].sort(),
      );
    },
    MINUTES,
  );

  /** After one look: everything listed, the index as it was, and what was found kept beside it. */
  async function expectRebuilt({ found, notice }: { found: Buffer | null; notice: string }): Promise<void> {
    await expectBothListed([notice]);
    expect(readFileSync(index, 'utf8')).toBe(whole.toString());
    const beside = asides();
    expect(beside).toHaveLength(found === null ? 0 : 1);
    for (const name of beside) {
      const path = join(sandbox.state, 'data', name);
      expect(readFileSync(path).equals(found as Buffer)).toBe(true);
      expect(name).toContain(notice === 'INDEX_OTHER_VERSION' ? '.newer-' : '.corrupt-');
      rmSync(path);
    }
    await expectBothListed([]);
  }
});

const LOADED = { ids: 2, unchanged: true };

/** The library's look at the same files, which must write nothing. */
async function loadedFrom({ env }: Sandbox) {
  const paths = resolvePaths(env);
  const before = readFileSync(paths.indexFile);
  const state = await createInstanceStore({ paths, events: () => {}, clock: systemClock }).load();
  return {
    ids: new Set(state.instances.map(({ instance_id }) => instance_id)).size,
    index: state.indexState,
    unchanged: readFileSync(paths.indexFile).equals(before),
  };
}

describe('one manifest that cannot be used', () => {
  let bad: Instance;
  let manifest: string;
  let good: Buffer;

  beforeAll(async () => {
    await twoInstances();
    bad = await sandbox.loadShell(['sleep', '1000']);
    manifest = join(sandbox.state, 'data', bad.base, '.jackin/instance.json');
    good = readFileSync(manifest);
  });
  afterAll(() => sandbox.dispose());

  const kinds: [string, () => string, RegExp][] = [
    ['O38: four bytes null', () => 'null', /./],
    ['O59: garbage', () => 'garbage', /not valid JSON/],
    ['O58: zero bytes, as a full disk leaves them', () => '', /empty/],
    ['of a newer version', () => JSON.stringify({ ...JSON.parse(good.toString()), version: 3 }), /newer/],
  ];
  test.each(kinds)(
    '%s: a visible corrupt row; everything else is listed, resumed and started, and nothing is overwritten',
    async (_title, content, reason) => {
      writeFileSync(manifest, content());
      const before = snapshot(join(sandbox.state, 'data', bad.base));
      const status = await sandbox.jackin(['status', '--json']);
      const { instances, corrupt } = status.json().data;
      expect(status.code).toBe(1);
      expect(instances.map((row: any) => row.instance_id)).toEqual(
        expect.arrayContaining([running.id, kept.id]),
      );
      expect(instances.map((row: any) => row.instance_id)).not.toContain(bad.id);
      expect(corrupt).toEqual([{ path: manifest, reason: expect.stringMatching(reason) }]);

      const text = await sandbox.jackin(['status']);
      expect(text.code).toBe(1);
      expect(text.stdout).toContain(`corrupt  ${manifest}`);
      expect(text.stdout).toContain(kept.id);

      const resumed = await sandbox.jackin(['resume', kept.id, '--detach', '--json']);
      expect([resumed.code, resumed.json().data?.status]).toEqual([0, 'running']);
      await killInstance(kept);
      const started = await sandbox.loadShell(['sleep', '1000']);
      await killInstance(started);
      expect((await sandbox.jackin(['purge', started.id, '--yes'])).code).toBe(0);

      for (const command of [
        ['purge', bad.id, '--force'],
        ['stop', bad.id, '--clean'],
        ['eject', bad.id],
      ]) {
        const refused = await sandbox.jackin([...command, '--json']);
        expect([command[0], refused.code]).toEqual([command[0], 1]);
        const { code, message, hint } = refused.json().error;
        expect(code).toMatch(/^MANIFEST_(CORRUPT|TOO_NEW)$/);
        expect(message).toContain(manifest);
        expect(hint).toBeTruthy();
      }
      expect(snapshot(join(sandbox.state, 'data', bad.base))).toEqual(before);
      expect(readFileSync(index, 'utf8')).toContain(bad.base);
    },
    2 * MINUTES,
  );

  test(
    'put back it is what it was, and its program ran on all the time',
    async () => {
      writeFileSync(`${manifest}.good`, good, { mode: 0o600 });
      renameSync(`${manifest}.good`, manifest);
      const resumed = await sandbox.jackin(['resume', bad.id, '--detach', '--json']);
      expect(resumed.json().data).toMatchObject({ tier: 0, status: 'running', did_not_return: [] });
      expect((await sandbox.jackin(['status'])).code).toBe(0);
    },
    MINUTES,
  );
});

test(
  'O58: other parts of zero bytes, as a full disk leaves them, keep no session from being seen and coming back',
  async () => {
    sandbox = createSandbox();
    try {
      const instance = await sandbox.loadShell(['sleep', '1000']);
      writeNotes(sandbox, instance);
      await killInstance(instance);
      await sandbox.jackin(['status']);
      const dir = join(sandbox.state, 'data', instance.base);
      const parts = [
        '.jackin/agent.toml',
        '.jackin/capsule.log',
        'state/heartbeat.json',
        'state/screen.json',
      ];
      for (const part of [...parts, 'state/exit.json']) writeFileSync(join(dir, part), '');
      for (const part of parts) expect(existsSync(join(dir, part))).toBe(true);
      writeFileSync(join(sandbox.state, 'data/instances.json'), '');
      writeFileSync(join(sandbox.state, 'data', `${instance.base}.lock`), '');
      const { code, json } = await sandbox.jackin(['status', instance.id, '--detail', '--json']);
      expect([code, json().data.instances.length]).toEqual([0, 1]);
      const resumed = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
      expect(resumed.json().data).toMatchObject({ tier: 1, status: 'running' });
      expect(hasNotes(sandbox, instance)).toBe(true);
    } finally {
      await sandbox.dispose();
    }
  },
  MINUTES,
);
