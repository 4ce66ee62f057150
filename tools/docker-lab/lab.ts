import Docker from 'dockerode';
import { importNoGlibc } from './base-image.ts';
import { exists, givenUp, giveUp, type LabRecord, staleLabs } from './claims.ts';
import { crashEngine, cutPower, engineSocket, startEngine, stopEngine } from './engine.ts';
import { removeAll } from './residue.ts';
import { makeDanglingSocket, openSilentSocket, type SilentSocket } from './sockets.ts';

/** A private engine, and the disasters that can happen to it. */
export interface DockerLab extends AsyncDisposable {
  /** The directory of everything the engine writes. */
  readonly dir: string;
  /** The path of the engine's socket, the same after every start. */
  readonly socket: string;
  readonly env: { DOCKER_HOST: string };
  /** A client of this engine. */
  readonly docker: Docker;
  /** The machine loses its power: dockerd, containerd, shims and workloads die at once, and what is in memory is gone. */
  powerCut(): Promise<void>;
  /** dockerd and containerd die; shims and workloads go on until the next start ends them. */
  engineCrash(): Promise<void>;
  /** The orderly stop: dockerd gets SIGTERM and stops its containers. Up to ten seconds per deaf workload. */
  engineStop(): Promise<void>;
  /** Starts the engine again after any of these. @throws Error when it runs, or with the end of its log. */
  start(): Promise<void>;
  /** Another engine on another socket, with the base image; it ends with this lab at the latest. */
  secondEngine(): Promise<DockerLab>;
  /** A socket that accepts and never answers. */
  silentSocket(): Promise<SilentSocket>;
  /** The path of a link to a socket that is not there. */
  danglingSocket(): Promise<string>;
  /** Gives the engine an image without glibc; its tag. */
  noGlibcImage(): Promise<string>;
  /** Ends whatever this lab started and removes everything it made. May be called again. */
  dispose(): Promise<void>;
}

/** The handle of the lab `record` describes, whoever started it. `another` starts a lab like it. */
export function openLab(record: LabRecord, another: () => Promise<DockerLab>): DockerLab {
  const { dir } = record;
  const socket = engineSocket(dir);
  const docker = new Docker({ socketPath: socket });
  const seconds: DockerLab[] = [];
  const silent: SilentSocket[] = [];
  const onlyIfThere = (verb: (lab: LabRecord) => Promise<void>) => async () => {
    if (!(await exists(record))) throw new Error(`The lab in ${dir} is no more.`);
    await verb(record);
  };
  const dispose = async () => {
    for (const second of seconds.splice(0)) await second.dispose();
    for (const one of silent) await one.close();
    if (await exists(record)) await remove(record);
  };
  return {
    dir,
    socket,
    env: { DOCKER_HOST: `unix://${socket}` },
    docker,
    powerCut: onlyIfThere(cutPower),
    engineCrash: onlyIfThere(crashEngine),
    engineStop: onlyIfThere(stopEngine),
    start: onlyIfThere(startEngine),
    async secondEngine() {
      const second = await another();
      seconds.push(second);
      return second;
    },
    async silentSocket() {
      const opened = await openSilentSocket(dir, `silent-${silent.length}.sock`);
      silent.push(opened);
      return opened;
    },
    danglingSocket: () => makeDanglingSocket(dir),
    noGlibcImage: () => importNoGlibc(docker),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Removes what dead processes left. Only alone with `labs`. */
export async function sweep(): Promise<void> {
  // What withstands keeps its number, and the next one tries again.
  for (const stale of await staleLabs()) await remove(stale).catch(() => {});
  for (const dir of await givenUp()) await removeAll(dir).catch(() => {});
}

async function remove(record: LabRecord): Promise<void> {
  await cutPower(record);
  await removeAll(await giveUp(record));
}
