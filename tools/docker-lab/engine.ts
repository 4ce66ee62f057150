import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import type { LabRecord } from './claims.ts';
import { find, machineEnv } from './machine.ts';
import { createNetwork, labName, namespaceFile, networkArguments, removeNetwork } from './network.ts';
import { ping } from './ping.ts';
import { engineProcesses, killAll, labProcesses, send, untilGone } from './processes.ts';
import { clearExecRoot, removeCgroups, unmountBelow } from './residue.ts';

const READY_MS = 60_000;
const ASK_AGAIN_MS = 25;
/** dockerd itself gives containers ten seconds and then kills them. */
const STOP_MS = 90_000;
const LOG_TAIL_BYTES = 2_000;

/** Where the engine in `dir` listens. */
export function engineSocket(dir: string): string {
  return join(dir, 'docker.sock');
}

/** Starts the engine and resolves once it answers. @throws Error with the end of its log when it does not. */
export async function startEngine({ dir, number, networks }: LabRecord): Promise<void> {
  if ((await engineProcesses(dir)).length > 0) throw new Error(`The engine in ${dir} runs already.`);
  await createNetwork(dir, number);
  // Where process 1 does not reap, dockerd takes the zombie of the old containerd for a living one.
  for (const stale of ['pid', 'docker.sock', 'exec/containerd/containerd.pid'])
    await rm(join(dir, stale), { force: true });
  await writeFile(join(dir, 'daemon.json'), JSON.stringify(configuration(dir)));
  const log = openSync(join(dir, 'log'), 'a');
  // nsenter becomes dockerd: the process that is started is the engine.
  const args = [
    `--net=${namespaceFile(dir)}`,
    find('dockerd') ?? 'dockerd',
    ...engineArguments(dir, number, networks),
  ];
  const child = spawn('nsenter', args, {
    // A session of its own: an interrupt at the terminal must not be a disaster nobody asked for.
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...machineEnv() },
  });
  closeSync(log);
  child.unref();
  const ended = once(child, 'exit').then(
    ([code, signal]) => `it ended with ${code ?? signal}`,
    (error) => `it could not be started: ${error}`,
  );
  const failure = await Promise.race([ended, answers(dir)]);
  if (failure === null) return;
  await killAll(() => engineProcesses(dir));
  const tail = (await readFile(join(dir, 'log'), 'utf8')).slice(-LOG_TAIL_BYTES);
  throw new Error(`The engine in ${dir} did not start, ${failure}. Its log ends:\n${tail}`);
}

/** SIGTERM to dockerd, as the init system sends it; resolves when it is gone. */
export async function stopEngine({ dir }: LabRecord): Promise<void> {
  for (const daemon of await daemons(dir)) send(daemon.pid, 'SIGTERM');
  await untilGone(() => engineProcesses(dir), STOP_MS);
}

/** SIGKILL to dockerd and its containerd. The shims and the workloads go on. */
export async function crashEngine({ dir }: LabRecord): Promise<void> {
  await killAll(() => engineProcesses(dir));
}

/**
 * The machine loses its power: everything dies at once, and nothing that lives in memory is left, that is mounts,
 * control groups, the network with its packet filter and the exec root. What had been written stays.
 */
export async function cutPower({ dir, number }: LabRecord): Promise<void> {
  // First those who could still write down what becomes of the others.
  for (const one of await engineProcesses(dir)) send(one.pid, 'SIGKILL');
  await killAll(() => labProcesses(dir));
  await removeNetwork(number);
  await unmountBelow(dir);
  await removeCgroups(labName(number));
  await clearExecRoot(dir);
  for (const file of ['pid', 'docker.sock', 'netns']) await rm(join(dir, file), { force: true });
}

function engineArguments(dir: string, number: number, networks: number): string[] {
  return Object.entries({
    'config-file': join(dir, 'daemon.json'),
    'data-root': join(dir, 'data'),
    'exec-root': join(dir, 'exec'),
    host: `unix://${engineSocket(dir)}`,
    pidfile: join(dir, 'pid'),
    ...networkArguments(number, networks),
    'cgroup-parent': `/${labName(number)}`,
    'exec-opt': 'native.cgroupdriver=cgroupfs',
  }).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Its own file in any case, so that the configuration of the machine's engine is not read. */
function configuration(dir: string): Record<string, string> {
  // The identity of the engine, which old engines of one machine would share; newer ones keep it in the data root.
  return { 'deprecated-key-path': join(dir, 'key.json') };
}

async function daemons(dir: string) {
  return (await engineProcesses(dir)).filter(({ argv }) => argv.includes('--exec-root'));
}

/** Resolves with null once the engine answers, with the reason when it does not in time. */
async function answers(dir: string): Promise<string | null> {
  const docker = new Docker({ socketPath: engineSocket(dir) });
  const deadline = performance.now() + READY_MS;
  for (;;) {
    try {
      await ping(docker);
      return null;
    } catch (error) {
      if (performance.now() > deadline) return `it does not answer after ${READY_MS} ms: ${error}`;
    }
    await sleep(ASK_AGAIN_MS);
  }
}
