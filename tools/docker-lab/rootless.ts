import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import { temporary } from './alone.ts';
import { baseTar, importBase } from './base-image.ts';
import { attempt, ENGINE_PROGRAMS, find, machineEnv, provide } from './machine.ts';
import { ping } from './ping.ts';
import { removeAll, unmountBelow } from './residue.ts';

/** Whose engine it is: a user without rights, without a home and without processes of its own. */
const USER = { uid: 65_534, gid: 65_534 };
/** Where the other user ids of its containers begin on the host. */
const FIRST = 200_000;
const COUNT = 65_536;
const READY_MS = 60_000;
const ASK_AGAIN_MS = 25;
const LOG_TAIL_BYTES = 2_000;

/** An engine of a user who is not root, in a user namespace. It has the base image. */
export interface RootlessEngine {
  readonly env: { DOCKER_HOST: string };
  readonly docker: Docker;
  /** Who runs it; root of its containers. */
  readonly user: { uid: number; gid: number };
  /** A directory of that user. */
  readonly dir: string;
  /** Ends it with everything that runs in it, and removes what it made. */
  dispose(): Promise<void>;
}

/** Why there can be none on this machine, or null. */
export async function rootlessObstacle(): Promise<string | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs Linux and root to set it up';
  const tried = await attempt('setpriv', [...AS_USER, 'unshare', '-U', '-m', '-n', '-p', '-f', 'true'], {
    timeoutMs: 10_000,
  });
  return tried.exitCode === 0 ? null : `no user namespace can be made: ${tried.stderr.toString().trim()}`;
}

/** @throws Error with the end of its log when it does not start */
export async function startRootless(): Promise<RootlessEngine> {
  await provide(ENGINE_PROGRAMS);
  const tar = await baseTar();
  const dir = await mkdtemp(join(await temporary(), 'jk-rl-'));
  await mkdir(join(dir, 'run'));
  for (const place of [dir, join(dir, 'run')]) await chown(place, USER.uid, USER.gid);
  const child = startOutside(dir);
  const docker = new Docker({ socketPath: join(dir, 'run/docker.sock') });
  const dispose = async (): Promise<void> => {
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    // The engine is the first process of its own process namespace: all others end with it.
    if (gone !== null) process.kill(-(child.pid as number), 'SIGKILL');
    await gone;
    await unmountBelow(dir);
    await removeAll(dir);
  };
  try {
    await letIn(child);
    await answers(docker, dir);
    await importBase(docker, tar);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { env: { DOCKER_HOST: `unix://${join(dir, 'run/docker.sock')}` }, docker, user: USER, dir, dispose };
}

const AS_USER = [`--reuid=${USER.uid}`, `--regid=${USER.gid}`, '--clear-groups'];

/** Waits for its user ids, which only root may map; then it is root of its own mounts, network and processes. */
const OUTER =
  'read _; exec unshare -m -n -p -f --kill-child --mount-proc -- sh -c \'mount -t tmpfs tmpfs /run && exec "$0" "$@"\' "$0" "$@"';

/** It waits for `letIn`. */
function startOutside(dir: string): ChildProcess {
  const log = openSync(join(dir, 'log'), 'a');
  const engine = [
    find('dockerd') ?? 'dockerd',
    ...['--rootless', '--iptables=false', '--ip6tables=false'],
    ...['--data-root', join(dir, 'data'), '--exec-root', join(dir, 'run/exec')],
    ...['--host', `unix://${join(dir, 'run/docker.sock')}`, '--pidfile', join(dir, 'run/pid')],
  ];
  const child = spawn('setpriv', [...AS_USER, 'unshare', '-U', 'sh', '-c', OUTER, ...engine], {
    detached: true,
    stdio: ['pipe', log, log],
    // The engine looks for the program that usually makes its namespaces.
    env: machineEnv({
      HOME: dir,
      XDG_RUNTIME_DIR: join(dir, 'run'),
      ROOTLESSKIT_STATE_DIR: join(dir, 'run'),
    }),
  });
  closeSync(log);
  return child;
}

async function letIn(child: ChildProcess): Promise<void> {
  await inOwnNamespace(child.pid as number);
  for (const [map, outside] of Object.entries({ uid_map: USER.uid, gid_map: USER.gid })) {
    await writeFile(`/proc/${child.pid}/${map}`, `0 ${outside} 1\n1 ${FIRST} ${COUNT}\n`);
  }
  child.stdin?.end('\n');
}

async function inOwnNamespace(pid: number): Promise<void> {
  const own = await readlink('/proc/self/ns/user');
  const deadline = performance.now() + READY_MS;
  while ((await readlink(`/proc/${pid}/ns/user`).catch(() => own)) === own) {
    if (performance.now() > deadline) throw new Error('The rootless engine got no user namespace.');
    await sleep(ASK_AGAIN_MS);
  }
}

async function answers(docker: Docker, dir: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const failure = await ping(docker).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure === null) return;
    if (performance.now() > deadline) {
      const tail = readFileSync(join(dir, 'log'), 'utf8').slice(-LOG_TAIL_BYTES);
      throw new Error(`The rootless engine did not start (${failure}). Its log ends:\n${tail}`);
    }
    await sleep(ASK_AGAIN_MS);
  }
}
