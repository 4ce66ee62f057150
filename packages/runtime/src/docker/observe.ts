import { release } from 'node:os';
import { bootId, toJackinError } from '@jackin/core';
import type {
  ContainerFact,
  EngineFact,
  InstanceObservation,
  InstanceRef,
  Inventory,
  Startable,
} from '../backend.ts';
import { unreachableObservation } from '../observe/inventory.ts';
import { mountSources } from '../observe/mount-sources.ts';
import { inParallel } from '../parallel.ts';
import type { ListedContainer } from './api.ts';
import { namesOfListed } from './api.ts';
import type { Connector } from './connect.ts';
import type { EngineClient } from './engine.ts';
import {
  containerFact,
  engineFact,
  imageById,
  imageByTag,
  resourceFact,
  startableByEngine,
} from './facts.ts';
import { namesOf } from './labels.ts';
import { type EngineLists, inspectContainer, type Look, takeLists } from './lists.ts';
import { orphansOf } from './orphans.ts';
import { type Selected, selectContainer, selectSidecar } from './select.ts';

/** Inspections at a time. */
const INSPECT_AT_ONCE = 8;

/**
 * One look at everything: one list each of containers, images, networks and volumes, however many instances there are,
 * and one inspection per container of ours. What could not be seen is `unreachable` or `unknown`, never "not there".
 * Throws only the signal's reason.
 */
export async function observeEngine(
  connector: Connector,
  refs: readonly InstanceRef[],
  signal: AbortSignal,
): Promise<Inventory> {
  signal.throwIfAborted();
  const choice = await connector.choose(signal);
  if (choice.state === 'none') return unreachable(choice.endpoint, choice.reason, refs);
  const { engine } = choice;
  const lists = await takeLists(engine, signal);
  if (!lists.info.ok) return unreachable(engine.endpoint, lists.info.reason, refs);
  const observations = await inParallel(refs, INSPECT_AT_ONCE, (ref) =>
    observeOne(engine, lists, ref, signal),
  );
  return {
    engine: await engineFactOf(engine, lists),
    instances: new Map(refs.map((ref, at) => [ref.instance_id, observations[at] as InstanceObservation])),
    orphans: orphansOf(refs, {
      containers: seen(lists.containers) ?? [],
      images: seen(lists.images) ?? [],
      networks: seen(lists.networks) ?? [],
      volumes: seen(lists.volumes) ?? [],
    }),
  };
}

/** The engine itself, as recorded at a start. */
export async function engineFactOf(
  engine: EngineClient,
  lists: Pick<EngineLists, 'info' | 'networks'>,
): Promise<EngineFact> {
  const { endpoint, address } = engine;
  if (!lists.info.ok) return { state: 'unreachable', endpoint, reason: lists.info.reason };
  return engineFact({
    endpoint,
    info: lists.info.value,
    networks: seen(lists.networks),
    host: {
      local: address.kind === 'unix' && process.platform === 'linux',
      kernel: release(),
      bootId: await bootId().catch(() => null),
    },
  });
}

async function observeOne(
  engine: EngineClient,
  lists: EngineLists,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<InstanceObservation> {
  const { manifest, container_base: base } = ref;
  const names = namesOf(manifest);
  const container = await factOf(engine, lists, ref, selectContainer, signal);
  const sidecar = await factOf(engine, lists, ref, selectSidecar, signal);
  const recorded = manifest.image_id ?? manifest.recipe?.image_id ?? manifest.keep?.image_id ?? null;
  const own = container.state === 'running' || container.state === 'stopped' ? container.image_id : null;
  const volume = resourceFact(seen(lists.volumes), names.volume, base);
  return {
    container,
    // Most instances never had one.
    sidecar: sidecar.state === 'missing' && !manifest.docker.dind_container ? null : sidecar,
    image: {
      by_id: imageById(lists.images, recorded ?? own),
      by_keep_tag: imageByTag(lists.images, names.keepTag),
      by_tag: imageByTag(lists.images, manifest.image_tag),
    },
    network: resourceFact(seen(lists.networks), names.network, base),
    volume: volume === 'present' || manifest.docker.certs_volume ? volume : null,
    leftover_pids: [],
  };
}

async function factOf(
  engine: EngineClient,
  lists: EngineLists,
  ref: InstanceRef,
  select: (listed: readonly ListedContainer[], ref: InstanceRef) => Selected,
  signal: AbortSignal,
): Promise<ContainerFact> {
  if (!lists.containers.ok) return { state: 'unreachable', reason: lists.containers.reason };
  const selected = select(lists.containers.value, ref);
  if (selected.state === 'missing') return { state: 'missing' };
  if (selected.state === 'foreign') {
    return { state: 'foreign', name: namesOfListed(selected.container)[0] ?? selected.container.Id };
  }
  try {
    const inspected = await inspectContainer(engine, selected.container.Id, signal);
    // Removed since it was listed.
    if (inspected === null) return { state: 'missing' };
    return containerFact(inspected, await startable(engine, lists, ref, inspected));
  } catch (thrown) {
    signal.throwIfAborted();
    return { state: 'unreachable', reason: toJackinError(thrown).message };
  }
}

async function startable(
  engine: EngineClient,
  lists: EngineLists,
  ref: InstanceRef,
  inspected: Parameters<typeof startableByEngine>[0],
): Promise<Startable> {
  if (inspected.State.Running) return { ok: true };
  const own = { base: ref.container_base, network: namesOf(ref.manifest).network };
  const byEngine = startableByEngine(inspected, seen(lists.networks), own);
  // Elsewhere the sources are not ours to look at.
  if (!byEngine.ok || engine.address.kind !== 'unix') return byEngine;
  return mountSources(ref, undefined, { onlyMissing: true });
}

function unreachable(endpoint: string, reason: string, refs: readonly InstanceRef[]): Inventory {
  const observation = unreachableObservation(reason);
  return {
    engine: { state: 'unreachable', endpoint, reason },
    instances: new Map(refs.map((ref) => [ref.instance_id, observation])),
    orphans: [],
  };
}

function seen<T>(part: Look<T>): T | null {
  return part.ok ? part.value : null;
}
