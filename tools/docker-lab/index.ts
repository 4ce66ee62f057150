import { ownIdentity, type ProcessIdentity } from '@jackin/core';
import { alone } from './alone.ts';
import { baseIsCached, baseTar, importBase } from './base-image.ts';
import { copyTemplate, keepTemplate } from './base-template.ts';
import { claim, type LabRecord, readRecord } from './claims.ts';
import { startEngine } from './engine.ts';
import { type DockerLab, openLab, sweep } from './lab.ts';
import { type Availability, ENGINE_PROGRAMS, machineAvailability, provide } from './machine.ts';

export { BASE_IMAGE, NO_GLIBC_IMAGE } from './base-image.ts';
export type { DockerLab } from './lab.ts';
export type { SilentSocket } from './sockets.ts';

export interface LabOptions {
  /** A link to the lab's directory is made here; the directory itself needs a short path. */
  dir?: string;
  /** How many networks fit into its address pool, a power of two, default 512. A small number is for running out of them. */
  networks?: number;
  /** The lab is swept once this process is dead; default the calling one, null for none. */
  owner?: ProcessIdentity | null;
}

const NETWORKS = 512;

/**
 * Starts an engine of its own: data, exec root, socket, bridge, addresses and control group, shared with no other
 * engine. It has the base image. Labs whose owner died are removed first.
 * @throws Error when this machine cannot run one (`labAvailability` says so beforehand) or the engine does not start.
 */
export async function startLab(options: LabOptions = {}): Promise<DockerLab> {
  const owner = options.owner === undefined ? await ownIdentity() : options.owner;
  const wanted = { owner, networks: options.networks ?? NETWORKS, link: options.dir ?? null };
  await provide(ENGINE_PROGRAMS);
  const tar = await baseTar();
  const record = await alone('labs', async () => {
    await sweep();
    return claim(wanted);
  });
  const lab = labOf(record);
  try {
    await copyTemplate(record);
    await startEngine(record);
    await importBase(lab.docker, tar);
    await keepTemplate(record, lab.docker);
    return lab;
  } catch (error) {
    await lab.dispose();
    throw error;
  }
}

/** The lab in `dir`, which another process may have started. @throws Error when there is none. */
export async function findLab(dir: string): Promise<DockerLab> {
  return labOf(await readRecord(dir));
}

/** Whether this machine can run a private engine: Linux, root, and what it needs installed or installable. */
export async function labAvailability(): Promise<Availability> {
  return machineAvailability([
    ...ENGINE_PROGRAMS,
    ...((await baseIsCached()) ? [] : (['debootstrap'] as const)),
  ]);
}

function labOf(record: LabRecord): DockerLab {
  const { networks, owner } = record;
  return openLab(record, () => startLab({ networks, owner }));
}
