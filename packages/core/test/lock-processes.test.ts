import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { acquireLock, bootId, identifyProcess, inspectLock, type ProcessIdentity } from '../src/index.ts';
import {
  eventLog,
  failureOf,
  fixturePath,
  onCleanup,
  procState,
  scratchDir,
  startFixture,
  talkTo,
  untilProgram,
} from './helpers.ts';

function place() {
  const data = join(scratchDir(), 'data');
  mkdirSync(data, { mode: 0o700 });
  const log = eventLog();
  const file = { path: join(data, 'instances.json.lock'), locksDb: join(data, 'locks.db') };
  const acquire = (waitMs = 0) =>
    acquireLock(file.path, { purpose: 'test', locksDb: file.locksDb, waitMs, events: log.sink });
  return { ...file, file, directory: `${file.path}.d`, log, acquire };
}

const recordOf = (identity: ProcessIdentity) =>
  JSON.stringify({ ...identity, host: hostname(), since: '2026-01-01T00:00:00Z', purpose: 'died' });

/** A process that is certainly gone: it has ended and was reaped. */
async function deadIdentity(): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const identity = await identifyProcess(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  if (identity === null) throw new Error('the child was not there');
  return identity;
}

describe('two real processes', () => {
  test('of two that race for the lock of a dead owner exactly one wins, forty times', async () => {
    const { path, directory, file } = place();
    const dead = recordOf(await deadIdentity());
    const racers = await Promise.all([startFixture('locker.ts'), startFixture('locker.ts')]);
    let overlapping = 0;
    for (let round = 0; round < 40; round += 1) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(path, dead);
      const startAt = String(process.hrtime.bigint() + 5_000_000n);
      const results = await Promise.all(
        racers.map((racer) => racer.ask({ do: 'acquire', ...file, startAt })),
      );
      expect(results.map(({ won }) => won).sort()).toEqual([false, true]);
      expect(results.find(({ won }) => won === false)).toMatchObject({ code: 'LOCK_HELD' });
      const winner = racers[results.findIndex(({ won }) => won === true)];
      expect(await winner?.ask({ do: 'check' })).toEqual({ held: true });
      expect(JSON.parse(readFileSync(path, 'utf8')).pid).toBe(winner?.pid);
      expect(await winner?.ask({ do: 'release' })).toEqual({ released: true });
      const [a, b] = results.map(({ from, to }) => ({ from: BigInt(String(from)), to: BigInt(String(to)) }));
      if (a !== undefined && b !== undefined && a.from < b.to && b.from < a.to) overlapping += 1;
    }
    expect(overlapping).toBeGreaterThanOrEqual(20);
  }, 90_000);

  test('a stopped owner keeps its lock, and finds it still held when it wakes', async () => {
    const { file, acquire, log } = place();
    const owner = await startFixture('locker.ts');
    expect(await owner.ask({ do: 'acquire', ...file })).toMatchObject({ won: true });
    await owner.kill('SIGSTOP');
    const error = await failureOf(acquire(300));
    expect(error).toMatchObject({ code: 'LOCK_HELD', details: { owner: { pid: owner.pid } } });
    await owner.kill('SIGCONT');
    expect(await owner.ask({ do: 'check' })).toEqual({ held: true });
    expect(await owner.ask({ do: 'release' })).toEqual({ released: true });
    await (await acquire()).release();
    expect(log.lockStates()).toEqual(['waiting', 'acquired', 'released']);
  });

  test('the lock of a killed owner is taken over at once, and the dead owner is named', async () => {
    const { path, file, acquire, log } = place();
    const owner = await startFixture('locker.ts');
    await owner.ask({ do: 'acquire', ...file });
    await owner.kill('SIGKILL');
    expect(await inspectLock(path)).toEqual({ state: 'free' });
    await (await acquire()).release();
    expect(log.lockStates()).toEqual(['taken_over', 'acquired', 'released']);
    expect(log.events[0]).toMatchObject({ owner: { pid: owner.pid } });
  });

  test('a killed owner that nobody reaps is a zombie with a pid that answers, and is taken over', async () => {
    const { file, acquire, log } = place();
    const parent = spawn(
      'sh',
      [
        '-c',
        'exec 3<&0; "$@" <&3 & exec sleep 600 <&- >&-',
        'sh',
        process.execPath,
        fixturePath('locker.ts'),
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const owner = await talkTo(parent);
    expect(owner.pid).not.toBe(parent.pid);
    await untilProgram(parent.pid ?? 0, 'sleep');
    await owner.ask({ do: 'acquire', ...file });
    const outputClosed = once(parent.stdout as NodeJS.ReadableStream, 'close');
    await owner.kill('SIGKILL');
    await outputClosed;
    await (await acquire(10_000)).release();
    expect(procState(owner.pid)).toBe('Z');
    expect(process.kill(owner.pid, 0)).toBe(true);
    expect(log.lockStates()).toContain('taken_over');
  });

  test('an owner killed while another waits is replaced by the waiter', async () => {
    const { file, acquire, log } = place();
    const owner = await startFixture('locker.ts');
    await owner.ask({ do: 'acquire', ...file });
    const waiter = await startFixture('locker.ts');
    expect(await waiter.ask({ do: 'acquire', ...file, waitMs: 60_000 })).toEqual({ waiting: true });
    await owner.kill('SIGKILL');
    expect(await waiter.next()).toMatchObject({ won: true });
    expect((await failureOf(acquire())).code).toBe('LOCK_HELD');
    await waiter.ask({ do: 'release', remove: true });
    await (await acquire()).release();
    expect(log.lockStates()).toEqual(['acquired', 'released']);
  });

  test.each(['exit', 'throw'])(
    'an owner that ends by %s without releasing leaves a free lock',
    async (how) => {
      const { path, directory, file } = place();
      const owner = await startFixture('locker.ts', [], how === 'throw' ? 'ignore' : 'inherit');
      await owner.ask({ do: 'acquire', ...file });
      const exited = once(owner.child, 'exit');
      await owner.ask({ do: how }).catch(() => {});
      await exited;
      expect(existsSync(directory)).toBe(false);
      expect(await inspectLock(path)).toEqual({ state: 'free' });
    },
  );
});

describe('O60: a pid that was given to another process', () => {
  test.each([
    ['an old boot id', { boot_id: 'the-boot-before' }],
    ['another start time', { start_time: '1' }],
    ['an old boot id from within a container', { boot_id: 'the-boot-before', pid_namespace: 'pid:[1]' }],
  ])('a lock with the pid of a living process and %s is taken over and says so', async (_title, change) => {
    const { path, directory, acquire, log } = place();
    const sleeper = spawn('sleep', ['999'], { stdio: 'ignore' });
    await once(sleeper, 'spawn');
    const exited = once(sleeper, 'exit');
    onCleanup(async () => {
      sleeper.kill('SIGKILL');
      await exited;
    });
    const identity = await identifyProcess(sleeper.pid ?? 0);
    if (identity === null) throw new Error('the child is not there');
    mkdirSync(directory);
    writeFileSync(path, recordOf(identity));
    expect((await failureOf(acquire())).code).toBe('LOCK_HELD');
    writeFileSync(path, recordOf({ ...identity, ...change }));
    await (await acquire()).release();
    expect(log.lockStates()).toEqual(['taken_over', 'acquired', 'released']);
    expect(log.events[0]).toMatchObject({ owner: { pid: sleeper.pid, ...change } });
    expect(await bootId()).toBe(identity.boot_id);
  });
});
