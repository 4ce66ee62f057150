import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';
import type { JackinError, JackinEvent } from '../src/index.ts';

/** Only root on Linux can mount the small and the read-only file systems that some faults need. */
export const CAN_MOUNT = process.platform === 'linux' && process.getuid?.() === 0;

const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function onCleanup(cleanup: () => void | Promise<void>): void {
  cleanups.push(cleanup);
}

export function scratchDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'jackin-core-'));
  onCleanup(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A tmpfs of its own, writable or not; its size is in KiB. */
export function mountTmpfs(sizeKib: number): { path: string; remount(mode: 'ro' | 'rw'): void } {
  const path = join(scratchDir(), 'mount');
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKib}k,mode=0700`, 'tmpfs', path]);
  onCleanup(() => {
    execFileSync('umount', ['-l', path]);
  });
  return {
    path,
    remount: (mode) => {
      execFileSync('mount', ['-o', `remount,${mode}`, path]);
    },
  };
}

export function eventLog() {
  const events: JackinEvent[] = [];
  const lockStates = () => events.flatMap((event) => (event.type === 'lock' ? [event.state] : []));
  return { events, lockStates, sink: (event: JackinEvent) => void events.push(event) };
}

/** The error a promise rejects with; fails the test when it does not. */
export async function failureOf(promise: Promise<unknown>): Promise<JackinError> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error as JackinError,
  );
  if (outcome === null) throw new Error('expected a rejection');
  return outcome;
}

export interface Fixture {
  pid: number;
  child: ChildProcess;
  /** Sends one request line and resolves with the next answer line. */
  ask(request: object): Promise<Record<string, unknown>>;
  next(): Promise<Record<string, unknown>>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
}

/** Starts a program of test/fixtures that talks in JSON lines; its first line must name its pid. */
export async function startFixture(
  name: string,
  args: string[] = [],
  stderr: 'inherit' | 'ignore' = 'inherit',
): Promise<Fixture> {
  return talkTo(spawn(process.execPath, [fixturePath(name), ...args], { stdio: ['pipe', 'pipe', stderr] }));
}

export async function talkTo(child: ChildProcess): Promise<Fixture> {
  const exited = once(child, 'exit');
  onCleanup(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  });
  if (child.stdout === null || child.stdin === null) throw new Error('the fixture needs pipes');
  const stdin = child.stdin;
  stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the fixture ended without an answer');
    return JSON.parse(value) as Record<string, unknown>;
  };
  const { pid } = await next();
  return {
    pid: Number(pid),
    child,
    next,
    ask(request) {
      stdin.write(`${JSON.stringify(request)}\n`);
      return next();
    },
    async kill(signal) {
      process.kill(Number(pid), signal);
      if (signal === 'SIGKILL' && Number(pid) === child.pid) await exited;
    },
  };
}

/** The state letter of a process (Z for a zombie), or null when there is none. */
export function procState(pid: number): string | null {
  return psField(pid, 'state')[0] ?? null;
}

/** A shell reaps its children until it has become the program it ends with, and only then leaves zombies. */
export async function untilProgram(pid: number, name: string): Promise<void> {
  while (!psField(pid, 'comm').endsWith(name)) await new Promise((resolve) => setImmediate(resolve));
}

function psField(pid: number, field: 'state' | 'comm'): string {
  return String(spawnSync('ps', ['-o', `${field}=`, '-p', String(pid)]).stdout).trim();
}
