import type { Backend, InstanceRef } from '../backend.ts';
import { engineFor } from './acting.ts';
import { type ListedContainer, namesOfListed } from './api.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { engineWords, statusOf, unless404 } from './errors.ts';
import { removeImage, removeKeepTag } from './keep.ts';
import { belongsTo, namesOf } from './labels.ts';
import { listContainers, listNetworks, listVolumes } from './lists.ts';
import { containerRunning, nameTaken } from './named-errors.ts';
import { removeNetworkById } from './network.ts';
import type { DockerDeps } from './options.ts';
import { allOf, selectContainer, selectSidecar } from './select.ts';

const GONE_MS = 30_000;

type What = Parameters<Backend['remove']>[1];

/**
 * Removes one kind of thing of an instance, never by force: the engine itself refuses what runs, also what somebody
 * started a moment ago. What has our name and not our labels is refused.
 * @throws JackinError `CONTAINER_RUNNING`, `NAME_TAKEN_BY_FOREIGN`, `IMAGE_IN_USE`
 */
export async function removeResource(
  deps: DockerDeps,
  ref: InstanceRef,
  what: What,
  signal: AbortSignal,
): Promise<'removed' | 'absent'> {
  const engine = await engineFor(deps, ref, signal);
  switch (what) {
    case 'container':
      return removeOwn(engine, ref, signal);
    case 'put_aside':
      return removePutAside(engine, ref, signal);
    case 'sidecar':
      return removeSidecar(engine, ref, signal);
    case 'network':
      return removeNetwork(engine, ref, signal);
    case 'volume':
      return removeVolume(engine, ref, signal);
    case 'keep_tag':
      return removeKeepTag(engine, ref, signal);
    case 'image':
      return removeImage(engine, ref, signal);
  }
}

async function removeOwn(engine: EngineClient, ref: InstanceRef, signal: AbortSignal) {
  const listed = await listContainers(engine, signal);
  const selected = selectContainer(listed, ref);
  if (selected.state === 'foreign' && allOf(listed, ref).length === 0) {
    throw nameTaken('container', ref.container_base);
  }
  if (selected.state !== 'ours') return 'absent';
  return (await removeContainer(engine, selected.container, ref, signal)) ? 'removed' : 'absent';
}

/** They may hold the only copy of a writable layer. */
async function removePutAside(engine: EngineClient, ref: InstanceRef, signal: AbortSignal) {
  const listed = await listContainers(engine, signal);
  const selected = selectContainer(listed, ref);
  const own = selected.state === 'ours' ? selected.container.Id : null;
  let removed = false;
  for (const one of allOf(listed, ref).filter(({ Id }) => Id !== own))
    removed = (await removeContainer(engine, one, ref, signal)) || removed;
  return removed ? 'removed' : 'absent';
}

async function removeSidecar(engine: EngineClient, ref: InstanceRef, signal: AbortSignal) {
  const selected = selectSidecar(await listContainers(engine, signal), ref);
  if (selected.state === 'missing') return 'absent';
  if (selected.state === 'foreign') throw nameTaken('sidecar', namesOf(ref.manifest).sidecar);
  return (await removeContainer(engine, selected.container, ref, signal)) ? 'removed' : 'absent';
}

/** Volumes without a name that the image asked for go with it. */
async function removeContainer(
  engine: EngineClient,
  { Id: id, ...listed }: ListedContainer,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<boolean> {
  const name = namesOfListed({ Id: id, ...listed })[0] ?? id;
  try {
    return await unless404(
      engine.call(`Removing the container ${name}`, { signal, timeoutMs: GONE_MS }, async (docker, inner) => {
        await docker.getContainer(id).remove(withSignal(inner, { v: true, force: false }));
        return true;
      }),
      false,
    );
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    if (!/already in progress/i.test(engineWords(error))) throw containerRunning(name, ref.instance_id);
    await untilRemoved(engine, id, signal);
    return true;
  }
}

/** Somebody else removes it at this moment. */
async function untilRemoved(engine: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  await unless404(
    engine.call('Waiting for the container to go', { signal, timeoutMs: GONE_MS }, (docker, inner) =>
      docker.getContainer(id).wait(withSignal(inner, { condition: 'removed' as const })),
    ),
    null,
  );
}

async function removeNetwork(engine: EngineClient, ref: InstanceRef, signal: AbortSignal) {
  const { network: name } = namesOf(ref.manifest);
  const named = (await listNetworks(engine, signal)).filter((one) => one.Name === name);
  const ours = named.filter(({ Labels }) => belongsTo(Labels, ref.container_base));
  if (ours.length === 0 && named.length > 0) throw nameTaken('network', name);
  let removed = false;
  for (const { Id } of ours) removed = (await removeNetworkById(engine, Id, signal)) || removed;
  return removed ? 'removed' : 'absent';
}

async function removeVolume(engine: EngineClient, ref: InstanceRef, signal: AbortSignal) {
  const { volume: name } = namesOf(ref.manifest);
  const found = (await listVolumes(engine, signal)).find((one) => one.Name === name);
  if (found === undefined) return 'absent';
  if (!belongsTo(found.Labels, ref.container_base)) throw nameTaken('volume', name);
  const removed = await unless404(
    engine.call(`Removing the volume ${name}`, { signal }, async (docker, inner) => {
      await docker.getVolume(name).remove(withSignal(inner, { force: false }));
      return true;
    }),
    false,
  );
  return removed ? 'removed' : 'absent';
}
