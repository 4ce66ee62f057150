import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { acquireLock, identifyProcess, type ProcessIdentity } from '@jackin/core';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Lab, loaded, loadRequest, openLab } from './support.ts';

// Each test starts real processes, and the machine may be busy.
jest.setTimeout(120_000);

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
  await mkdir(lab.paths.dataDir, { recursive: true, mode: 0o700 });
});
afterEach(() => lab.dispose());

const NEVER_MADE = 'jk-aaaaaaaa-shell.lock';
const TARGET = 'target-0123456789abcdef.lock';

test('a launch and a clean-up take away the locks that killed processes left for nothing', async () => {
  const dead = await deadProcess();
  await Promise.all([NEVER_MADE, TARGET].map((name) => leaveLock(name, dead)));
  const { instance_id: id } = loaded(await lab.jackin().load(loadRequest()));
  expect(await locks()).not.toEqual(expect.arrayContaining([expect.stringMatching(/aaaaaaaa|target/)]));
  await Promise.all([NEVER_MADE, TARGET].map((name) => leaveLock(name, dead)));
  await lab.jackin().purge({ instance: id, yes: true, force: false, dryRun: false });
  expect(await locks()).toEqual(['instances.json.lock']);
});

test('a lock that is held, has its instance, or is no lock of ours stays', async () => {
  const dead = await deadProcess();
  const kept = loaded(await lab.jackin().load(loadRequest()));
  await leaveLock(`${kept.container_base}.lock`, dead);
  await writeFile(join(lab.paths.dataDir, 'jk-bbbbbbbb-shell.lock'), '');
  const { dataDir, locksDb } = lab.paths;
  const held = await acquireLock(join(dataDir, NEVER_MADE), { purpose: 'load', locksDb, waitMs: 0 });
  const before = await locks();
  const { instance_id: id } = loaded(await lab.jackin().load(loadRequest({ session: 'new' })));
  await lab.jackin().purge({ instance: id, yes: true, force: false, dryRun: false });
  expect(await locks()).toEqual(before);
  held.assertHeld();
  await held.release();
});

/** A process that has ended and was reaped. */
async function deadProcess(): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const identity = await identifyProcess(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  if (identity === null) throw new Error('sleep did not start');
  return identity;
}

async function leaveLock(name: string, owner: ProcessIdentity): Promise<void> {
  const path = join(lab.paths.dataDir, name);
  const record = { ...owner, host: hostname(), since: '2026-01-01T00:00:00Z', purpose: 'load' };
  await writeFile(path, `${JSON.stringify(record)}\n`);
  await mkdir(`${path}.d`, { recursive: true });
}

async function locks(): Promise<string[]> {
  return (await readdir(lab.paths.dataDir)).filter((name) => /\.lock(\.d)?$/.test(name)).sort();
}
