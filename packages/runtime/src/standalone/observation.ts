import type { ContainerFact, InstanceObservation, InstanceRef } from '../backend.ts';
import { mountSources, type StatOf } from '../observe/mount-sources.ts';
import type { CapsuleProcess } from './find-capsule.ts';

export type { StatOf };

/** A process as the container facts describe it: running, stopped (recorded but dead), or missing (never recorded). */
export async function observationOf(
  ref: InstanceRef,
  found: CapsuleProcess,
  statOf?: StatOf,
): Promise<InstanceObservation> {
  return {
    container: await containerFact(ref, found, statOf),
    sidecar: null,
    image: null,
    network: null,
    volume: null,
    leftover_pids: found.state === 'gone' ? found.leftovers.map(({ pid }) => pid) : [],
  };
}

async function containerFact(
  ref: InstanceRef,
  found: CapsuleProcess,
  statOf: StatOf | undefined,
): Promise<ContainerFact> {
  const name = ref.container_base;
  switch (found.state) {
    case 'unknown':
      return { state: 'unreachable', reason: found.reason };
    case 'alive':
      return {
        state: 'running',
        name,
        engine_ref: String(found.identity.pid),
        image_id: null,
        oom_flag: null,
        started_run: found.identity.boot_id,
      };
    case 'gone': {
      const recorded = ref.manifest.backend?.standalone;
      if (!recorded) return { state: 'missing' };
      return {
        state: 'stopped',
        name,
        engine_ref: String(recorded.pid),
        image_id: null,
        // Nobody waits for a detached process: its exit code cannot be seen.
        exit_code: null,
        oom_flag: null,
        error: null,
        startable: await mountSources(ref, statOf),
      };
    }
  }
}
