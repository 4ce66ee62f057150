import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { acquireLock, type Clock, inspectLock, type Lock, ownIdentity, systemClock } from '../src/index.ts';
import { eventLog, failureOf, onCleanup, scratchDir } from './helpers.ts';

function place() {
  const data = join(scratchDir(), 'data');
  const path = join(data, 'jk-k7p9m2xq-proj-shell.lock');
  const locksDb = join(data, 'locks.db');
  const log = eventLog();
  const acquire = (options: Partial<Parameters<typeof acquireLock>[1]> = {}): Promise<Lock> =>
    acquireLock(path, { purpose: 'test', locksDb, waitMs: 0, events: log.sink, ...options });
  return { data, path, directory: `${path}.d`, locksDb, log, acquire };
}

/** Sleeps only by being woken: what resolves under it was not found by the poll. */
const clockWithoutPoll: Clock = {
  ...systemClock,
  sleep: (_ms, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
};

/** Every look at the time is ten seconds later. */
function hurriedClock(): Clock {
  let now = 0;
  return { ...systemClock, monotonicMs: () => (now += 10_000) };
}

describe('acquireLock', () => {
  test('the lock file names the owner, is private, and stays after the release', async () => {
    const { data, path, acquire, log } = place();
    const lock = await acquire({ purpose: 'resume k7p9m2xq' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      ...(await ownIdentity()),
      host: hostname(),
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      purpose: 'resume k7p9m2xq',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'locks.db')).mode & 0o777).toBe(0o600);
    expect(await inspectLock(path)).toMatchObject({ state: 'held', owner: { pid: process.pid } });
    await lock.release();
    expect(await inspectLock(path)).toEqual({ state: 'free' });
    expect(readdirSync(data).sort()).toEqual(['jk-k7p9m2xq-proj-shell.lock', 'locks.db']);
    expect(log.lockStates()).toEqual(['acquired', 'released']);
  });

  test('a release that removes leaves nothing of the lock, and it can be taken afresh', async () => {
    const { data, acquire } = place();
    await (await acquire()).release({ remove: true });
    expect(readdirSync(data)).toEqual(['locks.db']);
    await (await acquire()).release({ remove: true });
    expect(readdirSync(data)).toEqual(['locks.db']);
  });

  test('a second acquirer in the same process is refused with the owner, and served after the release', async () => {
    const { path, acquire } = place();
    const lock = await acquire({ purpose: 'first' });
    const error = await failureOf(acquire({ purpose: 'second' }));
    expect(error).toMatchObject({
      code: 'LOCK_HELD',
      exitCode: 1,
      message: expect.stringContaining(`${path} is held by process ${process.pid} (first)`),
      hint: expect.stringContaining(`ps -p ${process.pid}`),
      details: { path, owner: { pid: process.pid, purpose: 'first' } },
    });
    await lock.release();
    await (await acquire()).release();
  });

  test('many acquirers in one process hold the lock one at a time, and all get it', async () => {
    const { acquire } = place();
    let inside = 0;
    let served = 0;
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        await using lock = await acquire({ waitMs: 60_000 });
        inside += 1;
        expect(inside).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        lock.assertHeld();
        inside -= 1;
        served += 1;
      }),
    );
    expect(served).toBe(12);
  });

  test('a waiter is told once that it waits, and a release wakes it without any poll', async () => {
    const { acquire, log } = place();
    const first = await acquire({ purpose: 'first' });
    const waiting = acquire({
      purpose: 'second',
      waitMs: 3_600_000,
      clock: clockWithoutPoll,
      events: (event) => {
        log.sink(event);
        if (event.type === 'lock' && event.state === 'waiting') setImmediate(() => void first.release());
      },
    });
    const second = await waiting;
    expect(log.lockStates()).toEqual(['acquired', 'waiting', 'released', 'acquired']);
    expect(log.events[1]).toMatchObject({ purpose: 'second', owner: { purpose: 'first' } });
    await second.release();
  });

  test('a waiter is told once however often it looks, and gives up after its time', async () => {
    const { acquire, log } = place();
    const first = await acquire();
    const error = await failureOf(acquire({ waitMs: 450 }));
    expect(error.code).toBe('LOCK_HELD');
    expect(log.lockStates()).toEqual(['acquired', 'waiting']);
    await first.release();
  });

  test('an abort ends the wait with its reason', async () => {
    const { acquire } = place();
    const first = await acquire();
    const controller = new AbortController();
    const reason = new Error('operator pressed Ctrl-C');
    const error = await failureOf(
      acquire({
        waitMs: 3_600_000,
        signal: controller.signal,
        events: () => controller.abort(reason),
      }),
    );
    expect(error).toBe(reason);
    expect(await failureOf(acquire({ signal: controller.signal }))).toBe(reason);
    await first.release();
  });

  test('releases may overlap and repeat, and what is released is not held', async () => {
    const { acquire, log } = place();
    const lock = await acquire();
    await Promise.all([lock.release(), lock.release({ remove: true }), lock.release()]);
    await lock[Symbol.asyncDispose]();
    expect(log.lockStates()).toEqual(['acquired', 'released']);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
    expect(lock.lost).toBe(false);
    const again = await acquire();
    await lock.release({ remove: true });
    again.assertHeld();
    await again.release();
  });

  test.each([
    ['an empty file', ''],
    ['a file with anything in it', '\0garbage\n'],
    ['the record of a process that ended without a lock', JSON.stringify({ pid: 1, start_time: '1' })],
  ])('%s without X.lock.d, as another jackin leaves it, is a free lock', async (_title, content) => {
    const { data, path, acquire, log } = place();
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(path, content);
    expect(await inspectLock(path)).toEqual({ state: 'free' });
    await (await acquire()).release();
    expect(log.lockStates()).toEqual(['acquired', 'released']);
  });
});

describe('owners that cannot be judged', () => {
  const held = (owner: string | null) => {
    const here = place();
    mkdirSync(here.directory, { recursive: true, mode: 0o700 });
    chmodSync(here.data, 0o700);
    if (owner !== null) writeFileSync(here.path, owner);
    return here;
  };
  const record = async (change: object) =>
    JSON.stringify({ ...(await ownIdentity()), host: hostname(), since: '', purpose: 'p', ...change });

  test.each([
    ['no owner record', null],
    ['an empty owner record', ''],
    ['a truncated one', '{"pid": 12'],
    ['one full of NUL bytes', '\0'.repeat(200)],
    ['one without a start time', JSON.stringify({ pid: 1, boot_id: 'b', host: 'h', since: '', purpose: '' })],
  ])(
    'a taken lock with %s is waited for, then refused with the file and a way out',
    async (_title, owner) => {
      const { path, directory, acquire, log } = held(owner);
      expect(await inspectLock(path)).toMatchObject({ state: 'unknown' });
      const error = await failureOf(acquire({ waitMs: 600 }));
      expect(error).toMatchObject({
        code: 'LOCK_UNKNOWN_OWNER',
        message: expect.stringContaining(path),
        hint: expect.stringContaining(`rmdir ${directory}`),
      });
      expect(log.lockStates()).toEqual(['waiting']);
      expect(existsSync(directory)).toBe(true);
      rmdirSync(directory);
      await (await acquire()).release();
    },
  );

  test('an owner on another host is never taken for dead, not even with another boot id', async () => {
    for (const change of [
      { host: 'elsewhere', boot_id: 'other' },
      { host: 'elsewhere', pid: 2 ** 22 + 1 },
    ]) {
      const { path, acquire } = held(await record(change));
      const error = await failureOf(acquire());
      expect(error.code).toBe('LOCK_UNKNOWN_OWNER');
      expect(error.message).toContain('elsewhere');
      expect(await inspectLock(path)).toMatchObject({ state: 'unknown' });
    }
  });

  test('a host name that changed under a running owner does not free its lock', async () => {
    const { acquire } = held(await record({ host: 'name-before-the-network-changed' }));
    expect((await failureOf(acquire())).code).toBe('LOCK_HELD');
  });

  test('a pid of another pid namespace that is not found here proves nothing', async () => {
    const { acquire } = held(await record({ pid: 2 ** 22 + 1, pid_namespace: 'pid:[1]' }));
    expect((await failureOf(acquire())).code).toBe('LOCK_UNKNOWN_OWNER');
  });

  test('time never hands a lock over: a living owner keeps one last touched a year ago', async () => {
    const { acquire, directory } = held(await record({}));
    const lastYear = new Date(Date.now() - 365 * 24 * 3_600_000);
    utimesSync(directory, lastYear, lastYear);
    expect((await failureOf(acquire())).code).toBe('LOCK_HELD');
  });

  test('something else in the place of the lock is refused by name', async () => {
    const link = place();
    mkdirSync(link.data, { mode: 0o700 });
    writeFileSync(join(link.data, 'victim'), 'precious');
    symlinkSync('victim', link.path);
    expect((await failureOf(link.acquire())).code).toBe('NOT_A_REGULAR_FILE');
    expect(readFileSync(join(link.data, 'victim'), 'utf8')).toBe('precious');
    const directory = place();
    mkdirSync(directory.path, { recursive: true });
    expect((await failureOf(directory.acquire())).code).toBe('NOT_A_REGULAR_FILE');
  });
});

describe('a lock that is taken away', () => {
  test('is noticed by the next look, reported once, and not released for its new owner', async () => {
    const { directory, acquire, log } = place();
    const robbed = await acquire({ purpose: 'robbed' });
    rmdirSync(directory);
    const owner = await acquire({ purpose: 'new owner' });
    expect(robbed.lost).toBe(false);
    expect(() => robbed.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
    expect(() => robbed.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
    expect(robbed.lost).toBe(true);
    await robbed.release({ remove: true });
    owner.assertHeld();
    expect((await failureOf(acquire())).code).toBe('LOCK_HELD');
    await owner.release();
    expect(existsSync(directory)).toBe(false);
    expect(log.lockStates()).toEqual(['acquired', 'acquired', 'lost', 'released']);
  });

  test('is noticed without anybody asking, and the new owner of the same process keeps its own', async () => {
    const { directory, acquire } = place();
    const lost = Promise.withResolvers<void>();
    const robbed = await acquire({
      events: (event) => 'state' in event && event.state === 'lost' && lost.resolve(),
    });
    rmdirSync(directory);
    const owner = await acquire();
    await lost.promise;
    expect(robbed.lost).toBe(true);
    owner.assertHeld();
    await owner.release();
  });
});

describe('the guard of take-overs', () => {
  test('a process stuck inside it makes others fail by name instead of hang', async () => {
    const { data, locksDb, acquire, log } = place();
    mkdirSync(data, { mode: 0o700 });
    const stuck = new DatabaseSync(locksDb);
    stuck.exec('BEGIN EXCLUSIVE');
    onCleanup(() => stuck.close());
    const error = await failureOf(acquire({ clock: hurriedClock() }));
    expect(error).toMatchObject({ code: 'LOCK_GUARD_BUSY', message: expect.stringContaining(locksDb) });
    // Told once, so that a command that takes its time can be explained.
    expect(log.events).toEqual([{ type: 'lock', path: locksDb, state: 'waiting', purpose: 'test' }]);
    stuck.exec('ROLLBACK');
    await (await acquire()).release();
  });

  test('a failed release can be repeated', async () => {
    const { locksDb, path, acquire } = place();
    const lock = await acquire({ clock: hurriedClock() });
    const stuck = new DatabaseSync(locksDb);
    stuck.exec('BEGIN EXCLUSIVE');
    onCleanup(() => stuck.close());
    expect((await failureOf(lock.release({ remove: true }))).code).toBe('LOCK_GUARD_BUSY');
    lock.assertHeld();
    stuck.exec('ROLLBACK');
    await lock.release({ remove: true });
    expect(existsSync(path)).toBe(false);
  });

  test('a damaged guard file is an error that names it and the fix', async () => {
    const { data, locksDb, acquire } = place();
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(locksDb, 'not a database'.repeat(100));
    const error = await failureOf(acquire());
    expect(error).toMatchObject({
      code: 'LOCK_GUARD_BROKEN',
      hint: expect.stringContaining(`rm ${locksDb}`),
    });
  });
});
