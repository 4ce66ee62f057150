import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findProcessesByEnv } from '@jackin/core';
import { type CapsuleConnection, connectCapsule, openTrustedSocket } from '../../src/client/index.ts';
import { removeStaleCgroups } from '../../src/index.ts';
import type { SessionPlan } from '../../src/protocol/index.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface CapsuleProcess {
  readonly instanceId: string;
  readonly key: string;
  readonly dir: string;
  readonly state: string;
  readonly socket: string;
  readonly child: ChildProcess;
  /** Code and signal of the capsule's own end. */
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  stderr(): string;
  connect(): Promise<CapsuleConnection>;
  /** Ends everything of this instance and removes its files. */
  dispose(): Promise<void>;
}

export interface CapsuleProcessOptions {
  /** A directory that an earlier capsule of the same instance used. */
  reuse?: CapsuleProcess;
  env?: Record<string, string>;
  /** Another program than the sources, e.g. a bundle. */
  command?: string[];
  instanceId?: string;
  /** Also say on stderr that it listens. */
  announce?: boolean;
}

/** Starts the real program and waits until it listens. */
export async function startCapsule(options: CapsuleProcessOptions = {}): Promise<CapsuleProcess> {
  const { reuse } = options;
  const dir = reuse?.dir ?? (await mkdtemp(join(tmpdir(), 'jk-capsule-')));
  const instanceId = reuse?.instanceId ?? options.instanceId ?? randomBytes(4).toString('hex');
  const key = reuse?.key ?? randomBytes(32).toString('hex');
  const state = join(dir, 'state');
  const socket = join(dir, 'run', 'capsule.sock');
  await mkdir(state, { recursive: true, mode: 0o700 });
  await mkdir(join(dir, 'run'), { recursive: true, mode: 0o700 });
  const config = join(dir, 'agent.toml');
  const toml = { instance_id: instanceId, role: 'shell', workdir: dir, agents: ['shell'], capsule_key: key };
  await writeFile(
    config,
    Object.entries(toml)
      .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
      .join(''),
  );
  const command = options.command ?? [process.execPath, '--conditions=@jackin/source', MAIN];
  const [file = '', ...args] = [
    ...command,
    '--config',
    config,
    '--state',
    state,
    '--socket',
    socket,
    '--ready-fd',
    '3',
    ...(options.announce ? ['--announce'] : []),
  ];
  const child = spawn(file, args, {
    detached: true,
    env: { ...process.env, ...options.env, JACKIN_INSTANCE: instanceId },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const connections: CapsuleConnection[] = [];
  const capsule: CapsuleProcess = {
    instanceId,
    key,
    dir,
    state,
    socket,
    child,
    exited,
    stderr: () => stderr,
    async connect() {
      const connection = await connectCapsule({
        open: openTrustedSocket(socket, { expectedUid: process.getuid?.() ?? 0 }),
        instanceId,
        capsuleKey: key,
        clientName: 'test',
        signal: AbortSignal.timeout(10_000),
      });
      connections.push(connection);
      return connection;
    },
    async dispose() {
      for (const connection of connections) connection.close();
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
      for (const { pid } of await findProcessesByEnv('JACKIN_INSTANCE', instanceId)) kill(pid);
      while ((await findProcessesByEnv('JACKIN_INSTANCE', instanceId)).length > 0) await nextTurn();
      removeStaleCgroups(instanceId);
      await rm(dir, { recursive: true, force: true });
    },
  };
  const ready = child.stdio[3] as NodeJS.ReadableStream;
  const text = await Promise.race([
    once(ready, 'data').then(([chunk]) => String(chunk)),
    exited.then(() => stderr),
  ]);
  if (text !== 'ready\n') {
    await capsule.dispose();
    throw new Error(`the capsule did not start: ${text}`);
  }
  return capsule;
}

let counter = 0;

/** A plan that runs a shell script. */
export function plan(script: string, more: Partial<SessionPlan> = {}): SessionPlan {
  counter += 1;
  return {
    session_id: `s${counter}`,
    name: 'test',
    agent: 'shell',
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: { PS1: '$ ' },
    cols: 80,
    rows: 24,
    ...more,
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
