import { type AgentDefinition, agentRegistry } from '@jackin/agents';
import type { JackinPaths } from '@jackin/core';
import { backendOf, type InstanceStore, type LoadedState, type Manifest } from '@jackin/instance';
import type { Backend, EngineFact, InstanceRef, OrphanFact } from '../backend.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Trees } from '../trees.ts';
import type { CapsuleAccess } from './capsule-access.ts';
import { observeCapsule } from './capsule-fact.ts';
import { compareBoot, compareEngineRun, engineMatches } from './compare.ts';
import { imageHeir } from './image-heir.ts';
import { type CheckedInventory, takeInventory } from './inventory.ts';
import { isolatedFacts, type TreeLook } from './isolated-facts.ts';
import { cleanExitCodes, directoryFact, lockFact, stateFilesFact } from './local-facts.ts';

export interface ObserveDeps {
  store: InstanceStore;
  paths: JackinPaths;
  backends: ReadonlyMap<Backend['kind'], Backend>;
  capsule: CapsuleAccess;
  trees: Trees;
  /** The agents known here, with those of the configuration; default: the built-in ones. */
  agents?: readonly AgentDefinition[];
  /** Bounds of one call in milliseconds; defaults 10 000 for a backend, 1000 for a capsule or its files. */
  bounds?: { backendMs?: number; capsuleMs?: number };
}

/** Everything known at one moment. */
export interface Observation {
  loaded: LoadedState;
  /** In the order of `loaded.instances`, newest first. */
  facts: InstanceFacts[];
  /** Of every backend that was looked at. */
  engines: EngineFact[];
  orphans: OrphanFact[];
}

export interface Selection {
  bases?: readonly string[];
  /** Look also at the backends no instance lives on. Default: only those that are used. */
  everyBackend?: boolean;
  /** Default `record`. */
  trees?: TreeLook;
}

/**
 * Gathers the facts of every instance (or of `bases`) at once: one `observe` call per backend however many instances
 * there are, capsules asked in parallel. A failure, a hang or an answer that makes no sense becomes an uncertain
 * fact. Throws only what `store.load` throws (docs/architecture.md, observe → decide → act).
 */
export async function observe(deps: ObserveDeps, selection: Selection = {}): Promise<Observation> {
  const loaded = await deps.store.load();
  const { bases, everyBackend = false, trees = 'record' } = selection;
  const manifests = loaded.instances.filter((manifest) => !bases || bases.includes(manifest.container_base));
  const used = manifests.map(backendOf);
  const inventories = await inventoriesOf(
    deps,
    manifests,
    everyBackend ? [...deps.backends.keys(), ...used] : used,
  );
  const facts = await Promise.all(
    manifests.map((manifest) =>
      gather(deps, manifest, inventories.get(backendOf(manifest)), {
        known: async () => loaded.instances,
        trees,
      }),
    ),
  );
  const taken = [...inventories.entries()];
  return {
    loaded,
    facts,
    engines: taken.filter(([kind]) => deps.backends.has(kind)).map(([, inventory]) => inventory.engine),
    orphans: taken.flatMap(([, inventory]) => inventory.orphans),
  };
}

/**
 * The executor's fresh look at one instance. `manifest` stands in where none is on disk; null when there is neither.
 * Throws MANIFEST_CORRUPT and what else `store.read` throws: a fact about an unreadable instance justifies nothing.
 */
export function createObserveOne(
  deps: ObserveDeps,
): (base: string, manifest?: Manifest, trees?: TreeLook) => Promise<InstanceFacts | null> {
  return async (base, standIn, trees = 'record') => {
    const manifest = (await deps.store.read(base)) ?? standIn;
    if (!manifest) return null;
    const inventories = await inventoriesOf(deps, [manifest], [backendOf(manifest)]);
    const known = async () => (await deps.store.load()).instances;
    return gather(deps, manifest, inventories.get(backendOf(manifest)), { known, trees });
  };
}

async function inventoriesOf(
  deps: ObserveDeps,
  manifests: Manifest[],
  kinds: readonly Backend['kind'][],
): Promise<Map<Backend['kind'], CheckedInventory>> {
  const taken = await Promise.all(
    [...new Set(kinds)].map(async (kind) => {
      const refs = manifests.filter((manifest) => backendOf(manifest) === kind).map(refOf);
      const timeoutMs = deps.bounds?.backendMs ?? 10_000;
      return [kind, await takeInventory(kind, deps.backends.get(kind), refs, timeoutMs)] as const;
    }),
  );
  return new Map(taken);
}

async function gather(
  deps: ObserveDeps,
  manifest: Manifest,
  inventory: CheckedInventory | undefined,
  { known, trees }: { known: () => Promise<readonly Manifest[]>; trees: TreeLook },
): Promise<InstanceFacts> {
  const kind = backendOf(manifest);
  const ref = refOf(manifest);
  const base = manifest.container_base;
  const place = deps.paths.instance(base);
  const taken = inventory ?? (await takeInventory(kind, undefined, [], 0));
  const observation = taken.observationOf(ref);
  const capsuleMs = deps.bounds?.capsuleMs ?? 1_000;
  const [capsule, stateFiles, lock, dataDir, socketDir, isolated, heir] = await Promise.all([
    observeCapsule({
      ref,
      container: observation.container,
      backend: deps.backends.get(kind),
      capsule: deps.capsule,
      timeoutMs: capsuleMs,
    }),
    stateFilesFact(place.state, manifest.instance_id, capsuleMs),
    lockFact(deps.paths, base),
    directoryFact(place.dir),
    directoryFact(place.sockets),
    isolatedFacts(deps, manifest, trees),
    imageHeir(known, manifest, observation),
  ]);
  return {
    instance_id: manifest.instance_id,
    container_base: base,
    manifest,
    lock,
    engine: taken.engine,
    engine_matches: engineMatches(kind, manifest, taken.engine),
    engine_run: compareEngineRun(kind, manifest, taken.engine),
    boot: compareBoot(kind, manifest, taken.engine, stateFiles),
    observation,
    capsule,
    state_files: stateFiles,
    data_dir: dataDir,
    socket_dir: socketDir,
    isolated,
    image_heir: heir,
    clean_exit_codes: cleanExitCodes(manifest, deps.agents ?? agentRegistry),
  };
}

function refOf(manifest: Manifest): InstanceRef {
  return { instance_id: manifest.instance_id, container_base: manifest.container_base, manifest };
}
