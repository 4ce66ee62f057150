import type { InstanceRef } from '../backend.ts';
import type { InspectedContainer, ListedContainer, ListedNetwork } from './api.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { engineWords, statusOf, unless404 } from './errors.ts';
import { lostNetworks } from './facts.ts';
import { belongingLabels, belongsTo, isManaged, LABEL, namesOf } from './labels.ts';
import { listContainers, listNetworks } from './lists.ts';
import { nameTaken, poolsExhausted } from './named-errors.ts';

/** 20.10 and later engines say it differently. */
const NO_ADDRESSES = /non-overlapping IPv4 address pool|address pools have been fully subnetted/i;

/** A foreign network with our name is no network of ours. @throws JackinError `NAME_TAKEN_BY_FOREIGN` */
export function ownNetwork(listed: readonly ListedNetwork[], ref: InstanceRef): ListedNetwork | null {
  const { network: name } = namesOf(ref.manifest);
  const named = listed.filter((one) => one.Name === name);
  const ours = named.find((one) => belongsTo(one.Labels, ref.container_base));
  if (ours !== undefined) return ours;
  if (named.length > 0) throw nameTaken('network', name);
  return null;
}

/**
 * Makes the instance's network; one that somebody made in this very moment serves as well if it is ours.
 * @throws JackinError `ADDRESS_POOLS_EXHAUSTED` with the number of our unused networks
 */
export async function createNetwork(
  engine: EngineClient,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<{ id: string; made: boolean }> {
  const { network: name } = namesOf(ref.manifest);
  try {
    const made = await engine.call(`Creating the network ${name}`, { signal }, (docker, inner) =>
      docker.createNetwork(
        withSignal(inner, {
          Name: name,
          Driver: 'bridge',
          CheckDuplicate: true,
          Labels: belongingLabels(ref.container_base),
        }),
      ),
    );
    return { id: made.id, made: true };
  } catch (error) {
    signal.throwIfAborted();
    if (statusOf(error) === 409) {
      const other = ownNetwork(await listNetworks(engine, signal), ref);
      if (other !== null) return { id: other.Id, made: false };
    }
    if (!NO_ADDRESSES.test(engineWords(error))) throw error;
    throw poolsExhausted(name, await unusedNetworks(engine, signal), error);
  }
}

export async function removeNetworkById(
  engine: EngineClient,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  return unless404(
    engine.call('Removing the network', { signal }, async (docker, inner) => {
      await docker.getNetwork(id).remove(withSignal(inner, {}));
      return true;
    }),
    false,
  );
}

/**
 * A stopped container keeps the id of its network: one of the same name does not help it. Its network is made anew if it
 * is gone, and the container is connected to that one.
 * @returns what was made
 * @throws JackinError as {@link ownNetwork} and {@link createNetwork}
 */
export async function mendNetwork(
  engine: EngineClient,
  ref: InstanceRef,
  inspected: InspectedContainer,
  signal: AbortSignal,
): Promise<string[]> {
  const { network: name } = namesOf(ref.manifest);
  const listed = await listNetworks(engine, signal);
  const network = ownNetwork(listed, ref);
  const lost = lostNetworks(inspected, listed).includes(name);
  if (network !== null && !lost) return [];
  const id = network?.Id ?? (await createNetwork(engine, ref, signal)).id;
  if (lost) {
    const container = inspected.Id;
    await engine.call(
      `Connecting ${ref.container_base} to its network`,
      { signal },
      async (docker, inner) => {
        await docker.getNetwork(id).connect(withSignal(inner, { Container: container }));
      },
    );
  }
  return network === null ? [`network ${name}`] : [];
}

/** Networks of ours whose instance has no container. */
async function unusedNetworks(engine: EngineClient, signal: AbortSignal): Promise<string[]> {
  const [networks, containers] = await Promise.all([
    listNetworks(engine, signal),
    listContainers(engine, signal),
  ]);
  const used = new Set(containers.filter(({ Labels }) => isManaged(Labels)).flatMap(basesOf));
  return networks
    .filter(({ Labels }) => isManaged(Labels) && !used.has(Labels?.[LABEL.role] ?? ''))
    .map(({ Name }) => Name);
}

function basesOf({ Names, Labels }: ListedContainer): string[] {
  return [...(Names ?? []).map((name) => name.slice(1)), Labels?.[LABEL.role] ?? ''];
}
