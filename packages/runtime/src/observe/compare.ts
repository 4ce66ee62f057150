import type { Tri } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { Backend, EngineFact, StateFiles } from '../backend.ts';

type Sameness = 'same' | 'changed' | 'unknown';

/**
 * Does the engine that answered hold this instance? Ids decide where both are known, endpoints otherwise. The
 * standalone backend is this host itself (docs/architecture.md#backends).
 */
export function engineMatches(kind: Backend['kind'], manifest: Manifest, engine: EngineFact): Tri {
  if (engine.state === 'unreachable') return 'unknown';
  if (kind === 'standalone') return 'yes';
  const recorded = manifest.engine;
  if (!recorded) return 'unknown';
  if (recorded.id && engine.id) return recorded.id === engine.id ? 'yes' : 'no';
  return recorded.endpoint === engine.endpoint ? 'yes' : 'unknown';
}

/** The engine's run now against the one recorded at the last start; for standalone the host's boot is the run. */
export function compareEngineRun(kind: Backend['kind'], manifest: Manifest, engine: EngineFact): Sameness {
  if (engine.state === 'unreachable') return 'unknown';
  if (kind === 'standalone') return sameness(manifest.backend?.standalone?.boot_id, engine.boot_id);
  return sameness(manifest.engine?.run, engine.run);
}

/**
 * The boot now against the boot of the last start. Our own records go before the capsule's heartbeat, which the
 * container can forge.
 */
export function compareBoot(
  kind: Backend['kind'],
  manifest: Manifest,
  engine: EngineFact,
  stateFiles: StateFiles,
): Sameness {
  if (engine.state === 'unreachable') return 'unknown';
  const heartbeat =
    stateFiles.heartbeat.state === 'present' ? stateFiles.heartbeat.heartbeat.boot_id : undefined;
  const own = kind === 'standalone' ? manifest.backend?.standalone?.boot_id : manifest.last_seen?.boot_id;
  return sameness(own ?? heartbeat, engine.boot_id);
}

function sameness(recorded: string | null | undefined, now: string | null): Sameness {
  if (!recorded || !now) return 'unknown';
  return recorded === now ? 'same' : 'changed';
}
