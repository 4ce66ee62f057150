import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import {
  bootId,
  findProcessesByEnv,
  identifyProcess,
  newNonce,
  ownIdentity,
  processState,
} from '../src/index.ts';
import { lookWithPs, pidsByEnvWithPs } from '../src/process-ps.ts';
import { onCleanup, procState, untilProgram } from './helpers.ts';

/** A child of a parent that never reaps: once killed it stays a zombie until the parent ends. */
async function startUnreaped(env: Record<string, string> = {}) {
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec 1>&-; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const exited = once(parent, 'exit');
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(line);
  onCleanup(async () => {
    if (procState(pid) !== 'Z') process.kill(pid, 'SIGKILL');
    parent.kill('SIGKILL');
    await exited;
  });
  await untilProgram(parent.pid ?? 0, 'sleep');
  return { pid, parentPid: parent.pid ?? 0 };
}

async function startSleep(env: Record<string, string> = {}) {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', env: { ...process.env, ...env } });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onCleanup(end);
  return { pid: child.pid ?? 0, end };
}

/** Yields to the system until the killed process has become a zombie; the kill itself is not waitable. */
async function untilZombie(pid: number) {
  while (procState(pid) !== 'Z') await new Promise((resolve) => setImmediate(resolve));
}

describe('process identity', () => {
  test('we are alive, and our identity does not change', async () => {
    const own = await ownIdentity();
    expect(own).toEqual({ pid: process.pid, start_time: expect.any(String), boot_id: await bootId() });
    expect(await identifyProcess(process.pid)).toEqual(own);
    expect(await processState(own)).toBe('alive');
  });

  test('another start time or another boot id means another process, though the pid lives (O60)', async () => {
    const { pid } = await startSleep();
    const identity = await identifyProcess(pid);
    if (identity === null) throw new Error('the child is not there');
    expect(await processState(identity)).toBe('alive');
    expect(await processState({ ...identity, start_time: '1' })).toBe('dead');
    expect(await processState({ ...identity, boot_id: 'an-earlier-boot' })).toBe('dead');
  });

  test('a process that ended is dead and has no identity', async () => {
    const { pid, end } = await startSleep();
    const identity = await identifyProcess(pid);
    if (identity === null) throw new Error('the child is not there');
    await end();
    expect(await processState(identity)).toBe('dead');
    expect(await identifyProcess(pid)).toBeNull();
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 40])('pid %d of a damaged record is nobody', async (pid) => {
    expect(await identifyProcess(pid)).toBeNull();
    expect(await processState({ pid, start_time: '1', boot_id: await bootId() })).toBe('dead');
  });

  test('a stopped process is alive', async () => {
    const { pid } = await startSleep();
    const identity = await identifyProcess(pid);
    if (identity === null) throw new Error('the child is not there');
    process.kill(pid, 'SIGSTOP');
    expect(await processState(identity)).toBe('alive');
    process.kill(pid, 'SIGCONT');
  });

  test('a zombie answers signal 0 and is dead all the same', async () => {
    const { pid } = await startUnreaped();
    const identity = await identifyProcess(pid);
    if (identity === null) throw new Error('the child is not there');
    process.kill(pid, 'SIGKILL');
    await untilZombie(pid);
    expect(process.kill(pid, 0)).toBe(true);
    expect(await processState(identity)).toBe('dead');
    expect(await identifyProcess(pid)).toBeNull();
  });

  test('a command name with parentheses, spaces and newlines does not confuse the reading', async () => {
    const child = spawn(process.execPath, [
      '-e',
      'process.title = ") R 1 (\\n x"; process.stdout.write("ready"); setInterval(() => {}, 1e6)',
    ]);
    const exited = once(child, 'exit');
    onCleanup(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const plain = await identifyProcess(child.pid ?? 0);
    await once(child.stdout, 'data');
    expect(await identifyProcess(child.pid ?? 0)).toEqual(plain);
    expect(plain?.start_time).toMatch(/^\d+$|\d{4}$/);
  });
});

describe('findProcessesByEnv', () => {
  test('every process with exactly that variable is found, zombies and ourselves are not', async () => {
    const id = newNonce();
    const wanted = await startSleep({ JACKIN_TEST_ID: id });
    await startSleep({ JACKIN_TEST_ID: `${id}x` });
    await startSleep({ XJACKIN_TEST_ID: id });
    await startSleep({ OTHER: `JACKIN_TEST_ID=${id}` });
    const unreaped = await startUnreaped({ JACKIN_TEST_ID: id });
    process.kill(unreaped.pid, 'SIGKILL');
    await untilZombie(unreaped.pid);
    const found = (await findProcessesByEnv('JACKIN_TEST_ID', id)).map(({ pid }) => pid);
    expect(found.sort()).toEqual([wanted.pid, unreaped.parentPid].sort());
    expect(await findProcessesByEnv('PATH', process.env.PATH ?? '')).not.toContainEqual(await ownIdentity());
  });
});

describe('the form for systems without /proc', () => {
  test('ps tells a living process, a zombie and nobody apart, in a form that compares equal', async () => {
    const { pid } = await startUnreaped();
    const first = await lookWithPs(pid);
    expect(first).toMatchObject({
      state: 'alive',
      start_time: expect.stringMatching(/^\w{3} \w{3} \d+ [\d:]+ \d{4}$/),
    });
    expect(await lookWithPs(pid)).toEqual(first);
    process.kill(pid, 'SIGKILL');
    await untilZombie(pid);
    expect(await lookWithPs(pid)).toMatchObject({ state: 'zombie' });
    expect(await lookWithPs(2 ** 22 + 1)).toEqual({ state: 'none' });
  });

  test('ps finds a process by its environment as one whole word', async () => {
    const id = newNonce();
    const wanted = await startSleep({ JACKIN_TEST_ID: id });
    await startSleep({ JACKIN_TEST_ID: `${id}x` });
    const withEnvironment = process.platform === 'darwin' ? undefined : 'axeww';
    expect((await pidsByEnvWithPs('JACKIN_TEST_ID', withEnvironment)).get(id)).toEqual([wanted.pid]);
  });
});
