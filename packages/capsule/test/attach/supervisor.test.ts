import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type { SessionInfo } from '../../src/protocol/index.ts';
import { type CapsuleProcess, plan, startCapsule } from '../support/capsule-process.ts';
import { type AttachInPty, startAttachInPty } from './support/attach-in-pty.ts';
import { ARMED, ARMED_STATE } from './support/session-noise.ts';

// Real processes, on a machine that may be busy.
jest.setTimeout(90_000);

const DETACH = '\u0002d';
const SHELL = ['/bin/sh', '-i'];
/** Tells every size it gets. */
const SIZE_TELLER = [
  '/bin/sh',
  '-c',
  "stty size; trap 'stty size' WINCH; while :; do sleep 1000 & wait $!; kill $!; done",
];

/** The real supervisor with a shell in it, and terminals to attach to it. */
interface Desk extends AsyncDisposable {
  capsule: CapsuleProcess;
  session: SessionInfo;
  /** Another terminal, attached. */
  open(size?: { cols: number; rows: number }): Promise<AttachInPty>;
}

async function startDesk({
  session = true,
  argv = SHELL,
} = {}): Promise<Desk & { start(): Promise<SessionInfo> }> {
  const capsule = await startCapsule();
  const opened: { terminal: AttachInPty; dir: string }[] = [];
  const start = async (): Promise<SessionInfo> => {
    const connection = await capsule.connect();
    const info = await connection.startSession(plan('', { argv }));
    connection.close();
    return info;
  };
  return {
    capsule,
    start,
    session: session ? await start() : ({} as SessionInfo),
    async open(size = { cols: 80, rows: 24 }) {
      const dir = await mkdtemp(join(tmpdir(), 'jackin-attach-'));
      const env = { INSTANCE: capsule.instanceId, CAPSULE_KEY: capsule.key };
      const terminal = await startAttachInPty({ ...size, dir, socket: capsule.socket, env });
      opened.push({ terminal, dir });
      return terminal;
    },
    async [Symbol.asyncDispose]() {
      for (const { terminal, dir } of opened) {
        await terminal[Symbol.asyncDispose]();
        await rm(dir, { recursive: true, force: true });
      }
      await capsule.dispose();
    },
  };
}

const before = (terminal: AttachInPty) => ({
  settings: terminal.settings(),
  state: terminal.emulator.state(),
});

async function type(terminal: AttachInPty, text: string, shown: string | RegExp): Promise<string> {
  terminal.pty.write(text);
  return terminal.screen(shown);
}

describe('attached to the real supervisor', () => {
  test('the program sees the size of the terminal at once, and its changes', async () => {
    await using desk = await startDesk({ argv: SIZE_TELLER });
    const terminal = await desk.open({ cols: 132, rows: 50 });
    await terminal.screen('50 132');
    terminal.resize(91, 23);
    await terminal.screen('23 91');
  });

  test('attaching again after a detach shows the same screen, and the program went on', async () => {
    await using desk = await startDesk();
    const first = await desk.open();
    await first.screen('$');
    await type(first, 'echo $((6*7)) alive\r', '42 alive\n$');
    const left = first.emulator.text();
    first.pty.write(DETACH);
    expect(await first.report('outcome')).toEqual({ kind: 'detached' });
    const second = await desk.open();
    expect(await second.screen('42 alive\n$')).toBe(left);
    await type(second, 'echo again\r', '\nagain\n');
  });

  test('the end of the agent by itself is an end with its code', async () => {
    await using desk = await startDesk();
    const terminal = await desk.open();
    const { state } = before(terminal);
    await terminal.screen('$');
    terminal.pty.write('echo last words; exit 3\r');
    expect(await terminal.report('outcome')).toMatchObject({
      kind: 'ended',
      code: 3,
      signal: null,
      oom: false,
    });
    expect(await terminal.screen('what now?')).toMatch(/last words\n[\s\S]*what now\?/);
    expect(terminal.emulator.state()).toEqual(state);
  });

  test('return to the agent: a new session in the same capsule while the old connection holds', async () => {
    await using desk = await startDesk();
    const terminal = await desk.open();
    await terminal.screen('$');
    terminal.pty.write('exit 0\r');
    await terminal.screen('what now?');
    await desk.start();
    terminal.pty.write('return\r');
    await terminal.report('answer');
    await type(terminal, 'echo new $((1+1))\r', 'new 2');
    terminal.pty.write(DETACH);
    await terminal.screen('left with 0');
    expect(desk.capsule.child.exitCode).toBeNull();
  });

  test.each([
    ['the agent', (desk: Desk) => desk.session.pid ?? 0, { kind: 'ended', code: null, signal: 'SIGKILL' }],
    ['the supervisor', (desk: Desk) => desk.capsule.child.pid ?? 0, { kind: 'lost' }],
  ] as const)('after SIGKILL of %s the terminal is as it was', async (_name, pidOf, outcome) => {
    await using desk = await startDesk();
    const terminal = await desk.open();
    const state = before(terminal);
    await terminal.screen('$');
    terminal.pty.write(`printf '${octal(ARMED)}'\r`);
    await terminal.until('the modes', () => terminal.emulator.state().title === ARMED_STATE.title);
    expect(terminal.emulator.state()).toMatchObject({ mouse: 'any', screen: 'alternate', kitty: [1, 3] });
    process.kill(pidOf(desk), 'SIGKILL');
    expect(await terminal.report('outcome')).toMatchObject(outcome);
    if (outcome.kind === 'ended') await type(terminal, '\r', 'left with 0');
    await terminal.screen('left with 0');
    expect(before(terminal)).toEqual(state);
  });

  test('a second, smaller client gives both its size, and takes it away again', async () => {
    await using desk = await startDesk({ argv: SIZE_TELLER });
    const large = await desk.open({ cols: 100, rows: 30 });
    await large.screen('30 100');
    const small = await desk.open({ cols: 70, rows: 20 });
    await small.screen('20 70');
    await type(small, 'typed\r', 'typed');
    await large.screen('typed');
    expect(small.emulator.text()).toBe(large.emulator.text());
    small.pty.write(DETACH);
    await small.screen('left with 0');
    await large.screen(/typed\n+30 100$/);
  });

  test('a capsule without a session shows that it waits, and then the first session', async () => {
    await using desk = await startDesk({ session: false });
    const terminal = await desk.open();
    await terminal.screen('Waiting for jackin');
    await desk.start();
    await terminal.screen('$');
    await type(terminal, 'exit 5\r', 'what now?');
    expect(await terminal.report('outcome')).toMatchObject({ kind: 'ended', code: 5 });
  });

  test('a session that is over is shown before its end is told', async () => {
    await using desk = await startDesk();
    const first = await desk.open();
    await first.screen('$');
    first.pty.write('echo the last screen; exit 4\r');
    await first.screen('what now?');
    const second = await desk.open();
    expect(await second.report('outcome')).toMatchObject({ kind: 'ended', code: 4 });
    await second.screen(/the last screen\n[\s\S]*what now\?/);
  });
});

function octal(text: string): string {
  return [...text].map((one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`).join('');
}
