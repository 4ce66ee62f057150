import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, inspectLock, processState } from '@jackin/core';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  expectNothingLeft,
  hasNotes,
  type Instance,
  instanceLock,
  killInstance,
  processesOf,
  remove,
  statusOf,
  writeNotes,
} from './support/instance.ts';
import { lockLines, readJournal } from './support/journal.ts';
import { begin, type Command, lockLine, stepBegins } from './support/moments.ts';
import { BIN, createSandbox, eventually, type Sandbox } from './support/sandbox.ts';

const MINUTES = 60_000;
const PAUSE_MS = 30_000;
/** "At once": the waiter looks ten times a second, the rest is a busy machine. */
const AT_ONCE_MS = 1_000;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newSandbox(): Sandbox {
  const sandbox = createSandbox();
  cleanups.push(() => sandbox.dispose());
  return sandbox;
}

async function instanceWithNotes(sandbox: Sandbox): Promise<Instance> {
  const instance = await sandbox.loadShell();
  writeNotes(sandbox, instance);
  return instance;
}

/** The same with its capsule killed. */
async function lostInstance(sandbox: Sandbox): Promise<Instance> {
  const instance = await instanceWithNotes(sandbox);
  await killInstance(instance);
  return instance;
}

function commandOn(
  sandbox: Sandbox,
  { id }: Instance,
  [verb, flag]: readonly [verb: string, flag: string],
): Command {
  const command = begin(sandbox, [verb, id, flag, '--json']);
  cleanups.push(() => command.kill('SIGKILL'));
  return command;
}

function resumeOf(sandbox: Sandbox, instance: Instance): Command {
  return commandOn(sandbox, instance, ['resume', '--detach']);
}

/** The command, frozen inside a step, with the lock of the instance in its hands. */
async function stoppedIn(
  sandbox: Sandbox,
  instance: Instance,
  args: readonly [verb: string, flag: string],
  op: string,
): Promise<Command> {
  const owner = commandOn(sandbox, instance, args);
  await owner.line(stepBegins(op));
  // Stopped while it waits for the capsule: the answer must still count when it wakes.
  if (op === 'start_container') {
    await eventually('the capsule was started', async () => (await processesOf(instance.id)).length > 0);
  }
  owner.kill('SIGSTOP');
  const held = await inspectLock(instanceLock(sandbox, instance));
  expect(held).toMatchObject({ state: 'held', owner: { pid: owner.pid } });
  return owner;
}

interface Sleeper {
  verb: 'resume' | 'stop' | 'purge';
  flag: string;
  /** Where it is stopped. */
  op: string;
  /** What it ends with after it woke. */
  data: object;
  /** Who waits for it then, and what that one ends with. */
  next: { args: ['resume', '--detach'] | ['purge', '--yes']; document: object };
}

const resumed = { data: { tier: 1, status: 'running' } };
const joins: Sleeper['next'] = {
  args: ['resume', '--detach'],
  document: { data: { tier: 0, did_not_return: [] } },
};
const SLEEPERS: Sleeper[] = [
  { verb: 'resume', flag: '--detach', op: 'prepare_socket_dir', ...resumed, next: joins },
  {
    ...{ verb: 'resume', flag: '--detach', op: 'start_container', ...resumed },
    next: { args: ['purge', '--yes'], document: { error: { code: 'STATE_CHANGED' } } },
  },
  { verb: 'resume', flag: '--detach', op: 'start_session', ...resumed, next: joins },
  {
    ...{ verb: 'stop', flag: '--keep', op: 'stop_container', data: { outcome: 'kept' } },
    next: { args: ['resume', '--detach'], document: { data: { tier: 1, cause: 'jackin_stop' } } },
  },
  {
    ...{ verb: 'purge', flag: '--yes', op: 'stop_container', data: { outcome: 'cleaned' } },
    next: { args: ['purge', '--yes'], document: { error: { code: 'INSTANCE_GONE' } } },
  },
];

describe('a lock owner that is stopped for 30 seconds', () => {
  test(
    'keeps its lock against every other command, which waits or names it, and finishes when it wakes',
    async () => {
      const outcomes = await Promise.allSettled(SLEEPERS.map(sleepsThrough));
      expect(outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))).toEqual([]);
    },
    10 * MINUTES,
  );

  async function sleepsThrough({ verb, flag, op, data, next }: Sleeper): Promise<void> {
    const sandbox = newSandbox();
    const instance = await instanceWithNotes(sandbox);
    if (verb === 'resume') await killInstance(instance);
    const lock = instanceLock(sandbox, instance);
    const owner = await stoppedIn(sandbox, instance, [verb, flag], op);
    const stoppedAt = Date.now();
    const { purpose, since } = JSON.parse(readFileSync(lock, 'utf8'));

    const impatient = [['resume', '--detach'] as const, ['purge', '--yes'] as const].map((args) =>
      commandOn(sandbox, instance, args),
    );
    expect(await statusOf(sandbox, instance)).not.toBeNull();
    for (const other of impatient) {
      const { error } = (await other.done).json();
      if (error.code === 'INSTANCE_NOT_RESTORABLE' && verb === 'purge') continue;
      expect(error).toMatchObject({
        code: 'LOCK_HELD',
        details: { owner: { pid: owner.pid, purpose, since } },
      });
      for (const word of [purpose, since, `process ${owner.pid}`]) expect(error.message).toContain(word);
    }
    const waiter = commandOn(sandbox, instance, next.args);
    await waiter.line(lockLine(lock, 'waiting'));
    await sleep(Math.max(0, stoppedAt + PAUSE_MS - Date.now()));
    for (const other of [...impatient, waiter]) {
      expect(other.lines().filter(({ path, state }) => path === lock && state !== 'waiting')).toEqual([]);
    }

    owner.kill('SIGCONT');
    const ended = await owner.done;
    expect({ verb, op, ...ended }).toMatchObject({ verb, op, code: 0 });
    expect(ended.stderr).not.toMatch(/ {4}at /);
    expect(ended.json().data).toMatchObject(data);
    expect(lockLines(owner.lines(), lock, 'lost')).toEqual([]);
    expect((await waiter.done).json()).toMatchObject(next.document);
    if (verb !== 'purge') {
      expect(hasNotes(sandbox, instance)).toBe(true);
      await remove(sandbox, instance);
    }
    expect(await sandbox.traces(instance)).toEqual([]);
    expectNothingLeft(sandbox);
  }
});

describe('a lock owner that is killed', () => {
  test.each(['prepare_socket_dir', 'start_container', 'start_session'])(
    'in %s is replaced at once by the command that waits',
    async (op) => {
      const sandbox = newSandbox();
      const instance = await lostInstance(sandbox);
      const lock = instanceLock(sandbox, instance);
      const owner = await stoppedIn(sandbox, instance, ['resume', '--detach'], op);
      const waiter = resumeOf(sandbox, instance);
      await waiter.line(lockLine(lock, 'waiting'));
      const killedAt = Date.now();
      owner.kill('SIGKILL');
      const takenOver = await waiter.line(lockLine(lock, 'taken_over'));
      expect(takenOver).toMatchObject({ pid: waiter.pid, owner: { pid: owner.pid, purpose: 'resume' } });
      expect(Date.parse(takenOver?.at ?? '') - killedAt).toBeLessThan(AT_ONCE_MS);
      await expectResumed(sandbox, instance, waiter);
    },
    MINUTES,
  );

  test(
    'and stays a zombie, because nobody reaps it, counts as dead',
    async () => {
      const sandbox = newSandbox();
      const instance = await lostInstance(sandbox);
      const lock = instanceLock(sandbox, instance);
      const ownerPid = await unreapedOwner(sandbox, instance);
      const waiter = resumeOf(sandbox, instance);
      await waiter.line(lockLine(lock, 'waiting'));
      const killedAt = Date.now();
      process.kill(ownerPid, 'SIGKILL');
      const takenOver = await waiter.line(lockLine(lock, 'taken_over'));
      expect(takenOver).toMatchObject({ pid: waiter.pid, owner: { pid: ownerPid } });
      expect(Date.parse(takenOver?.at ?? '') - killedAt).toBeLessThan(AT_ONCE_MS);
      expect(String(execFileSync('ps', ['-o', 'stat=', '-p', String(ownerPid)]))).toMatch(/^Z/);
      await expectResumed(sandbox, instance, waiter);
    },
    MINUTES,
  );
});

describe('a lock that nobody holds', () => {
  test('with the pid of a living process but an old boot id is taken over, and that is said', async () => {
    const sandbox = newSandbox();
    const instance = await lostInstance(sandbox);
    const lock = instanceLock(sandbox, instance);
    const living = spawn('sleep', ['600'], { stdio: 'ignore' });
    cleanups.push(() => living.kill('SIGKILL'));
    const identity = await identifyProcess(living.pid ?? 0);
    if (identity === null) throw new Error('sleep did not start');
    const before = { boot_id: '00000000-0000-4000-8000-000000000000', host: hostname() };
    const owner = { ...identity, ...before, since: '2026-01-01T00:00:00.000Z', purpose: 'resume' };
    mkdirSync(`${lock}.d`);
    writeFileSync(lock, `${JSON.stringify(owner)}\n`);
    const command = resumeOf(sandbox, instance);
    const { stderr } = await command.done;
    expect(lockLines(command.lines(), lock, 'waiting')).toEqual([]);
    expect(lockLines(command.lines(), lock, 'taken_over')).toMatchObject([{ owner }]);
    expect(stderr).toContain('took over the lock of a process that is gone');
    expect(await processState(identity)).toBe('alive');
    await expectResumed(sandbox, instance, command);
  });

  test('as the Rust jackin leaves it, an empty file, is free', async () => {
    const sandbox = newSandbox();
    const instance = await lostInstance(sandbox);
    const lock = instanceLock(sandbox, instance);
    writeFileSync(lock, '');
    const command = resumeOf(sandbox, instance);
    await command.done;
    const states = command.lines().filter(({ type, path }) => type === 'lock' && path === lock);
    expect(states.map(({ state }) => state).slice(-2)).toEqual(['acquired', 'released']);
    expect(states.map(({ state }) => state)).not.toContain('waiting');
    expect(states.map(({ state }) => state)).not.toContain('taken_over');
    await expectResumed(sandbox, instance, command);
  });
});

describe('children of a killed standalone capsule that ignore HUP and TERM', () => {
  const STUBBORN = ['bash', '-c', 'trap "" HUP TERM; sleep 3600 & while :; do wait; sleep 1; done'];

  test(
    'are found by their environment and ended by resume and by purge',
    async () => {
      const sandbox = newSandbox();
      const instance = await sandbox.loadShell(STUBBORN);
      const first = await orphaned(sandbox, instance);
      const resumed = resumeOf(sandbox, instance);
      expect((await resumed.done).json().data).toMatchObject({ tier: 1, status: 'running' });
      const ended = resumed.lines().find(({ op, state }) => op === 'end_leftovers' && state === 'done');
      for (const { pid } of first) expect(ended?.detail).toContain(String(pid));
      for (const identity of first) expect(await processState(identity)).toBe('dead');

      const second = await orphaned(sandbox, instance);
      const purged = await sandbox.jackin(['purge', instance.id, '--yes', '--json']);
      expect(purged.code).toBe(0);
      for (const identity of second) expect(await processState(identity)).toBe('dead');
      expect(await sandbox.traces(instance)).toEqual([]);
      expectNothingLeft(sandbox);
    },
    MINUTES,
  );

  /** Kills the capsule alone; returns what outlived it. */
  async function orphaned(sandbox: Sandbox, instance: Instance) {
    const capsule = sandbox.manifest(instance.base).backend.standalone;
    await eventually('the agent and its child run', async () => (await processesOf(instance.id)).length >= 3);
    process.kill(capsule.pid, 'SIGKILL');
    await eventually('the capsule is dead', async () => (await processState(capsule)) === 'dead');
    const left = await processesOf(instance.id);
    expect(left.length).toBeGreaterThanOrEqual(2);
    expect(await statusOf(sandbox, instance)).toMatchObject({ status: 'crashed', cause: 'capsule_crash' });
    return left;
  }
});

async function expectResumed(sandbox: Sandbox, instance: Instance, command: Command): Promise<void> {
  const { code, stdout } = await command.done;
  expect({ code, stdout }).toEqual({ code: 0, stdout });
  expect(JSON.parse(stdout).data).toMatchObject({ status: 'running' });
  expect(hasNotes(sandbox, instance)).toBe(true);
  await remove(sandbox, instance);
  expectNothingLeft(sandbox);
}

/** A resume that holds the lock, stopped, whose parent will never ask how it ended. */
async function unreapedOwner(sandbox: Sandbox, instance: Instance): Promise<number> {
  const journal = join(sandbox.root, 'unreaped.ndjson');
  const parent: ChildProcess = spawn(
    'sh',
    ['-c', '"$@" & exec sleep 600', 'sh', process.execPath, BIN, 'resume', instance.id, '--detach'],
    { cwd: sandbox.project, env: { ...sandbox.env, JACKIN_LOG: journal }, stdio: 'ignore' },
  );
  cleanups.push(() => parent.kill('SIGKILL'));
  const begun = await eventually('the owner is in a step', () =>
    readJournal(journal).find(stepBegins('prepare_socket_dir')),
  );
  process.kill(begun.pid, 'SIGSTOP');
  expect(await inspectLock(instanceLock(sandbox, instance))).toMatchObject({ owner: { pid: begun.pid } });
  return begun.pid;
}
