import { openTrustedSocket } from '@jackin/capsule/client';
import {
  bootId,
  ensurePrivateDir,
  findProcessesByEnv,
  listProcessesByEnv,
  toJackinError,
} from '@jackin/core';
import { backendOf } from '@jackin/instance';
import type { Backend, EngineFact, InstanceObservation, InstanceRef, StartContext } from '../backend.ts';
import { standaloneFindings } from './doctor.ts';
import { type CapsuleProcess, findCapsule, INSTANCE_VARIABLE } from './find-capsule.ts';
import { observationOf } from './observation.ts';
import type { StandaloneOptions } from './options.ts';
import { probe } from './probe.ts';
import { removeProcessTraces } from './remove.ts';
import { chooseSocket, expectedUid } from './socket-path.ts';
import { startCapsule } from './start.ts';

import { endProcesses, stopCapsule } from './stop.ts';

/**
 * The backend without a container: the capsule is a detached process of this host, its identity is pid, start time and
 * boot id (docs/architecture.md#backends). It isolates files, not the machine. What docker has and a process has not
 * (sidecar, network, volume, image, layer) is absent here, never an error.
 */
export function createStandaloneBackend(options: StandaloneOptions): Backend {
  const { paths } = options;
  const find = (ref: InstanceRef): Promise<CapsuleProcess> =>
    findCapsule(ref, paths.instance(ref.container_base), (id) => findProcessesByEnv(INSTANCE_VARIABLE, id));

  return {
    kind: 'standalone',
    async observe(refs, signal) {
      signal.throwIfAborted();
      const engine = await engineFact();
      // One pass over the process list, and only when an instance does not run as recorded.
      let listing: ReturnType<typeof listProcessesByEnv> | undefined;
      const processesOf = async (id: string) => {
        listing ??= listProcessesByEnv(INSTANCE_VARIABLE);
        return (await listing).find(id);
      };
      const ours = refs.filter(({ manifest }) => backendOf(manifest) === 'standalone');
      const observations = await Promise.all(
        ours.map(async (ref) => {
          const found = await findCapsule(ref, paths.instance(ref.container_base), processesOf);
          return observationOf(ref, found);
        }),
      );
      signal.throwIfAborted();
      const instances = new Map(
        ours.map((ref, at) => [ref.instance_id, observations[at] as InstanceObservation]),
      );
      return { engine, instances, orphans: [] };
    },
    capsule(ref) {
      return {
        async open(signal) {
          signal.throwIfAborted();
          const path = await socketOf(ref, options, find);
          return openTrustedSocket(path, { expectedUid: expectedUid() })(signal);
        },
      };
    },
    async create({ dirs, signal }: StartContext) {
      signal.throwIfAborted();
      for (const dir of [dirs.home, dirs.state]) await ensurePrivateDir(dir);
      return { created: [], image_id: null };
    },
    async start(context) {
      context.signal.throwIfAborted();
      const standalone = await startCapsule(context, options, await find(context.ref));
      return { engine: await engineFact(), standalone };
    },
    probe: (_ref, what, signal) => probe(what, options.env, signal),
    async stop(ref, graceMs, signal) {
      signal.throwIfAborted();
      await stopCapsule(await find(ref), { ...boundsOf(ref, signal), graceMs });
      await endLeftovers(ref, signal);
    },
    endLeftovers,
    async remove(ref, what, signal) {
      signal.throwIfAborted();
      if (what !== 'container') return 'absent';
      return removeProcessTraces(ref, await find(ref), options);
    },
    async rename(_ref, _to, signal) {
      signal.throwIfAborted();
    },
    async pinImage(_ref, _imageId, signal) {
      signal.throwIfAborted();
    },
    async changedPaths(_ref, signal) {
      signal.throwIfAborted();
      return null;
    },
    async doctor(signal) {
      signal.throwIfAborted();
      return standaloneFindings(paths);
    },
  };

  /** A living capsule's children are its own: nothing has outlived it then. */
  async function endLeftovers(ref: InstanceRef, signal: AbortSignal): Promise<number[]> {
    signal.throwIfAborted();
    return endProcesses(() => find(ref), boundsOf(ref, signal));
  }

  function boundsOf(ref: InstanceRef, signal: AbortSignal) {
    return { base: ref.container_base, signal, clock: options.clock, events: options.events };
  }
}

async function socketOf(
  ref: InstanceRef,
  options: StandaloneOptions,
  find: (ref: InstanceRef) => Promise<CapsuleProcess>,
): Promise<string> {
  const recorded = ref.manifest.backend?.standalone?.socket;
  if (recorded) return recorded;
  const found = await find(ref);
  if (found.state === 'alive' && found.socket !== null) return found.socket;
  return chooseSocket(options.paths.instance(ref.container_base).socket, ref.instance_id, options.env).path;
}

/** The engine is this host: it is reached, and its run is the boot. */
async function engineFact(): Promise<EngineFact> {
  try {
    const boot = await bootId();
    return { state: 'reachable', endpoint: 'standalone', id: null, run: boot, boot_id: boot };
  } catch (error) {
    return { state: 'unreachable', endpoint: 'standalone', reason: toJackinError(error).message };
  }
}
