import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findProcessesByEnv } from '@jackin/core';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readLastScreen, readStateFiles } from '../src/client/index.ts';
import type { ExitRecord, Heartbeat } from '../src/protocol/index.ts';
import { LEAVE_AFTER_MS } from '../src/supervisor/lifecycle.ts';
import { openPty } from '../src/terminal/pty.ts';
import { type CapsuleProcess, plan, startCapsule } from './support/capsule-process.ts';
import { onChange } from './support/file-change.ts';
import { watch } from './support/watch.ts';

let capsule: CapsuleProcess;
afterEach(() => capsule.dispose());

const SIZE = { sessionId: null, cols: 80, rows: 24 };
/** Ignores what asks it to end, in the agent's place and in a session of its own with a scrubbed environment. */
const STUBBORN =
  'trap "" HUP TERM; (trap "" HUP TERM; exec setsid sh -c "trap \\"\\" HUP TERM; while :; do sleep 1; done") & echo started; while :; do sleep 1; done';

async function record(): Promise<ExitRecord | string> {
  const { exit_record } = await readStateFiles(capsule.state, capsule.instanceId);
  return exit_record.state === 'present' ? exit_record.record : exit_record.state;
}

async function heartbeat(): Promise<Heartbeat | null> {
  const files = await readStateFiles(capsule.state, capsule.instanceId);
  return files.heartbeat.state === 'present' ? files.heartbeat.heartbeat : null;
}

const leftovers = async (): Promise<number[]> =>
  (await findProcessesByEnv('JACKIN_INSTANCE', capsule.instanceId))
    .map(({ pid }) => pid)
    .filter((pid) => pid !== capsule.child.pid);

describe('the last agent ends', () => {
  test.each([
    ['with a clean code', 'exit 0', { code: 0, signal: null }],
    ['with another code', 'exit 3', { code: 3, signal: null }],
    ['by a signal', 'kill -9 $$', { code: null, signal: 'SIGKILL' }],
  ])('%s and nobody is attached: recorded, and the capsule leaves', async (_, script, how) => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const session = plan(`echo bye; ${script}`);
    await client.startSession(session);
    expect(await view.message('session_ended')).toMatchObject({
      session: { session_id: session.session_id, alive: false, pid: null, ended: { ...how, oom: false } },
    });
    const expected = {
      ended_by: 'agent',
      ...how,
      oom: false,
      agent: 'shell',
      session_id: session.session_id,
    };
    expect(await record()).toMatchObject(expected);
    expect(await view.message('stopping')).toEqual({ type: 'stopping', ended_by: 'agent' });
    expect(await capsule.exited).toEqual({ code: 0, signal: null });
    await client.closed;
    expect(existsSync(capsule.socket)).toBe(false);
    expect(await record()).toMatchObject(expected);
    expect((await readLastScreen(capsule.state))?.lines).toEqual(['bye']);
    expect((await heartbeat())?.sessions).toEqual([
      { session_id: session.session_id, agent: 'shell', alive: false, pid: null },
    ]);
  });

  test('and somebody is attached: the capsule stays, and the next session takes the record away', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.startSession(plan('exit 3'));
    await client.attach(SIZE);
    await view.message('session_ended');
    expect(await record()).toMatchObject({ ended_by: 'agent', code: 3 });
    // That something does not happen can only be waited for.
    await sleep(LEAVE_AFTER_MS + 1000);
    const again = plan('echo again; read x');
    await client.startSession(again);
    expect(await record()).toBe('absent');
    await client.attach({ ...SIZE, sessionId: again.session_id });
    await view.screen('again');
    client.write(Buffer.from('\r'));
    client.close();
    expect(await capsule.exited).toEqual({ code: 0, signal: null });
    expect(await record()).toMatchObject({ ended_by: 'agent', code: 0, session_id: again.session_id });
  });

  test('and what it left running is ended too', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan('setsid sleep 1000 & (trap "" HUP; exec sleep 1000) & echo left; exit 0'));
    await view.message('session_ended');
    client.close();
    await capsule.exited;
    expect(await leftovers()).toEqual([]);
  });

  test('but another one lives: no record, and the capsule stays', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const [first, second] = [plan('read x'), plan('read x')];
    await client.startSession(first);
    await client.startSession(second);
    expect(await client.endSession(first.session_id, 2000)).toMatchObject({ alive: false });
    await view.message('session_ended');
    expect(await record()).toBe('absent');
    expect(await client.list()).toMatchObject([{ alive: false }, { alive: true }]);
    await client.endSession(second.session_id, 2000);
    expect(await record()).toMatchObject({ ended_by: 'request', session_id: second.session_id });
    expect(await capsule.exited).toEqual({ code: 0, signal: null });
  });
});

describe('an agent and a shell beside it', () => {
  const agent = (script: string) => plan(script, { agent: 'codex' });
  /** Both run; the agent ends first, then the shell. */
  async function both(agentEnd: string, shellEnd: string) {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const first = agent(`read x; ${agentEnd}`);
    const shell = plan(`read x; ${shellEnd}`);
    await client.startSession(first);
    await client.startSession(shell);
    const end = async (sessionId: string) => {
      await client.attach({ ...SIZE, sessionId });
      client.write(Buffer.from('\r'));
      await view.message('session_ended', (one) => one.session.session_id === sessionId);
    };
    await end(first.session_id);
    return { client, first, shell, end };
  }

  test.each([
    ['the agent crashed', 'exit 1', 'exit 0', { code: 1, signal: null }],
    ['the agent was killed', 'kill -9 $$', 'exit 0', { code: null, signal: 'SIGKILL' }],
    ['the agent ended well', 'exit 0', 'exit 7', { code: 0, signal: null }],
  ])('%s: that is recorded, whatever the shell ends with later', async (_, agentEnd, shellEnd, how) => {
    const { first, shell, end } = await both(agentEnd, shellEnd);
    expect(await record()).toBe('absent');
    await end(shell.session_id);
    const { session_id } = first;
    expect(await record()).toMatchObject({ ended_by: 'agent', ...how, agent: 'codex', session_id });
  });

  test.each([
    ['crashed', 'exit 1', { ended_by: 'agent', code: 1, agent: 'codex' }],
    ['ended well', 'exit 0', { ended_by: 'request', nonce: 'a-nonce-of-the-host' }],
  ])('the agent %s and then the shell is ended by request', async (_, agentEnd, how) => {
    const { client } = await both(agentEnd, 'exit 0');
    await client.stop({ nonce: 'a-nonce-of-the-host', graceMs: 500 });
    expect(await record()).toMatchObject(how);
  });

  test('a crash is over when the agent is started again', async () => {
    const { client, shell, end } = await both('exit 1', 'exit 0');
    const again = agent('read x; exit 0');
    await client.startSession(again);
    await end(again.session_id);
    await end(shell.session_id);
    expect(await record()).toMatchObject({ code: 0, agent: 'codex', session_id: again.session_id });
  });

  test('a crash of one of two agents is not hidden by the other', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    const [crashing, other] = [agent('read x; exit 1'), agent('read x; exit 0')];
    for (const one of [crashing, other]) await client.startSession(one);
    for (const { session_id: sessionId } of [crashing, other]) {
      await client.attach({ ...SIZE, sessionId });
      client.write(Buffer.from('\r'));
      await view.message('session_ended', (one) => one.session.session_id === sessionId);
    }
    expect(await record()).toMatchObject({ code: 1, session_id: crashing.session_id });
  });
});

describe('the capsule is told to end', () => {
  test('by a request: record with its nonce, no process left, connection closed', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan(STUBBORN));
    await view.screen('started');
    const stopped = client.stop({ nonce: 'a-nonce-of-the-host', graceMs: 500 });
    expect(await view.message('stopping')).toMatchObject({ ended_by: 'request' });
    expect(await record()).toMatchObject({ ended_by: 'request', nonce: 'a-nonce-of-the-host', code: null });
    await stopped;
    expect(await capsule.exited).toEqual({ code: 0, signal: null });
    expect(await leftovers()).toEqual([]);
    expect(await record()).toMatchObject({ ended_by: 'request', nonce: 'a-nonce-of-the-host' });
    expect(view.messages.map(({ type }) => type)).toContain('session_ended');
  });

  test('by a request after the agent ended by itself: that record stays', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan('exit 7'));
    await view.message('session_ended');
    await client.stop({ nonce: 'a-nonce-of-the-host', graceMs: 500 });
    expect(await record()).toMatchObject({ ended_by: 'agent', code: 7 });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('by %s: record first, then the children', async (signal, code) => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan('setsid sleep 1000 & echo started; read x'));
    await view.screen('started');
    capsule.child.kill(signal);
    expect(await view.message('stopping')).toMatchObject({ ended_by: 'signal' });
    expect(await capsule.exited).toEqual({ code, signal: null });
    expect(await record()).toMatchObject({ ended_by: 'signal', capsule_signal: signal, agent: null });
    expect(await leftovers()).toEqual([]);
  });

  test('a second signal does not wait for children that do not end', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    await client.attach(SIZE);
    await client.startSession(plan(STUBBORN));
    await view.screen('started');
    const started = performance.now();
    capsule.child.kill('SIGTERM');
    await view.message('stopping');
    capsule.child.kill('SIGTERM');
    expect(await capsule.exited).toEqual({ code: 143, signal: null });
    expect(performance.now() - started).toBeLessThan(4500);
    expect(await leftovers()).toEqual([]);
  });

  test('before any session: it waits for the host, says so, and ends by a signal', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    const view = watch(client);
    expect(await client.attach(SIZE)).toMatchObject({ alive: false, ended: null, pid: null });
    await view.screen(`jackin resume ${capsule.instanceId}`);
    client.close();
    await sleep(LEAVE_AFTER_MS + 1000);
    const again = await capsule.connect();
    expect(await again.list()).toEqual([]);
    expect((await heartbeat())?.sessions).toEqual([]);
    capsule.child.kill('SIGTERM');
    await capsule.exited;
    expect(await record()).toMatchObject({ ended_by: 'signal', agent: null, session_id: null });
  });
});

describe('the capsule is killed', () => {
  test('no record is left, and the next one of the instance starts in its place', async () => {
    capsule = await startCapsule();
    const client = await capsule.connect();
    await client.startSession(plan('read x'));
    await onChange(capsule.state, async () =>
      (await heartbeat())?.sessions[0]?.alive === true ? true : null,
    );
    capsule.child.kill('SIGKILL');
    await capsule.exited;
    expect((await client.closed).code).toBeNull();
    expect(await record()).toBe('absent');
    expect(existsSync(capsule.socket)).toBe(true);
    const killed = capsule;
    capsule = await startCapsule({ reuse: killed });
    expect((await capsule.connect()).welcome.pid).toBe(capsule.child.pid);
  });

  test('an old record goes when a session starts, not before', async () => {
    capsule = await startCapsule();
    await (await capsule.connect()).startSession(plan('exit 4'));
    await capsule.exited;
    capsule = await startCapsule({ reuse: capsule });
    expect(await record()).toMatchObject({ ended_by: 'agent', code: 4 });
    const client = await capsule.connect();
    await expect(client.startSession(plan('', { argv: ['/no/such/agent'] }))).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
    });
    expect(await record()).toMatchObject({ ended_by: 'agent', code: 4 });
    await client.startSession(plan('read x'));
    expect(await record()).toBe('absent');
  });
});

test('a detached capsule does not belong to the terminal that started it', async () => {
  capsule = await startCapsule();
  const launcher = fileURLToPath(new URL('fixtures/launch-capsule.ts', import.meta.url));
  const other = await startCapsule();
  other.child.kill('SIGKILL');
  await other.exited;
  const end = Promise.withResolvers<void>();
  let output = '';
  const ready = Promise.withResolvers<void>();
  const terminal = openPty({
    file: process.execPath,
    args: [launcher, other.dir],
    cwd: '/',
    env: { ...(process.env as Record<string, string>), JACKIN_INSTANCE: other.instanceId },
    cols: 80,
    rows: 24,
    onOutput(bytes) {
      output += bytes.toString();
      if (output.includes('ready')) ready.resolve();
    },
    onExit: () => {},
    onEnd: end.resolve,
    onWritable: () => {},
  });
  await ready.promise;
  terminal.close();
  await end.promise;
  try {
    const client = await other.connect();
    await client.startSession(plan('read x'));
    const stat = readFileSync(`/proc/${client.welcome.pid}/stat`, 'utf8');
    expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4]).toBe('0');
    await client.stop({ nonce: 'a-nonce-of-the-host', graceMs: 500 });
  } finally {
    await other.dispose();
  }
});
