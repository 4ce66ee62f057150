import type { ContainerFact, EngineFact, ImageFact, InstanceObservation, Startable } from '../backend.ts';
import {
  type EngineInfo,
  type InspectedContainer,
  type ListedImage,
  type ListedNetwork,
  plainName,
} from './api.ts';
import { belongsTo } from './labels.ts';

/** Networks that every engine has; their ids change with each of its runs and bind nobody. */
const PREDEFINED: ReadonlySet<string> = new Set(['bridge', 'host', 'none', 'podman', 'default']);

/** In: one container as inspected. Out: the fact about it. The OOM flag of a running one is a note, no end. */
export function containerFact(inspected: InspectedContainer, startable: Startable): ContainerFact {
  const { State: state, Id: id, Image: image } = inspected;
  const common = {
    name: plainName(inspected.Name),
    engine_ref: id,
    image_id: image || null,
    oom_flag: state.OOMKilled ?? null,
  };
  if (state.Running || state.Restarting) return { state: 'running', ...common, started_run: null };
  return {
    state: 'stopped',
    ...common,
    // The engine says 0 for one that was never started.
    exit_code: wasStarted(inspected) ? (state.ExitCode ?? null) : null,
    error: state.Error || null,
    startable,
  };
}

/** What the engine's own facts say about starting it again; what `start` mends is no obstacle. */
export function startableByEngine(
  inspected: InspectedContainer,
  networks: readonly ListedNetwork[] | null,
  own: { base: string; network: string },
): Startable {
  const { Status: status, Dead: dead } = inspected.State;
  if (dead || status === 'dead') return { ok: false, reason: 'the engine failed to remove it (state dead)' };
  if (status === 'removing') return { ok: false, reason: 'the engine is removing it' };
  if (networks === null) return { ok: true };
  for (const name of lostNetworks(inspected, networks)) {
    if (name !== own.network) return { ok: false, reason: `the network ${name} it was connected to is gone` };
    const namesake = networks.find((network) => network.Name === name);
    if (namesake !== undefined && !belongsTo(namesake.Labels, own.base)) {
      return {
        ok: false,
        reason: `its network ${name} is gone, and a network that is not jackin's has that name`,
      };
    }
  }
  return { ok: true };
}

/** The networks it is connected to by an id that no network has any more. */
export function lostNetworks(inspected: InspectedContainer, networks: readonly ListedNetwork[]): string[] {
  const ids = new Set(networks.map(({ Id }) => Id));
  return Object.entries(inspected.NetworkSettings?.Networks ?? {})
    .filter(([name, { NetworkID }]) => NetworkID && !ids.has(NetworkID) && !PREDEFINED.has(name))
    .map(([name]) => name);
}

function wasStarted({ State: { StartedAt, Status } }: InspectedContainer): boolean {
  return Status !== 'created' && !StartedAt?.startsWith('0001-01-01');
}

/** Of a network or volume, by its name and our labels. Null lists: could not look. */
export function resourceFact(
  listed: readonly { Name: string; Labels?: Record<string, string> | null | undefined }[] | null,
  name: string,
  base: string,
): InstanceObservation['network'] {
  if (listed === null) return 'unknown';
  const named = listed.filter((one) => one.Name === name);
  if (named.length === 0) return 'missing';
  return named.some((one) => belongsTo(one.Labels, base)) ? 'present' : 'foreign';
}

type Images = { ok: true; value: readonly ListedImage[] } | { ok: false; reason: string };

export function imageById(images: Images, id: string | null): ImageFact {
  if (id === null) return { state: 'unknown', reason: 'its image id was never recorded' };
  if (!images.ok) return { state: 'unknown', reason: images.reason };
  const found = images.value.find((image) => sameImage(image.Id, id));
  return found === undefined ? { state: 'missing' } : { state: 'present', image_id: found.Id };
}

export function imageByTag(images: Images, tag: string): ImageFact {
  if (!images.ok) return { state: 'unknown', reason: images.reason };
  const found = images.value.find(({ RepoTags }) => hasTag(RepoTags, tag));
  return found === undefined ? { state: 'missing' } : { state: 'present', image_id: found.Id };
}

/** Podman writes the registry in front of a local tag. */
export function hasTag(tags: readonly string[] | null | undefined, tag: string): boolean {
  const full = tag.includes(':') ? tag : `${tag}:latest`;
  return (tags ?? []).some((one) =>
    [full, `localhost/${full}`, `docker.io/library/${full}`, `docker.io/${full}`].includes(one),
  );
}

export function sameImage(a: string, b: string): boolean {
  const plain = (id: string): string => id.replace(/^sha256:/, '');
  return plain(a) === plain(b);
}

/**
 * The engine's identity and that of its present run (docs/status-and-causes.md): the default bridge is made anew at each
 * start of the engine. The boot id is the host's own, and only when the engine demonstrably runs on this kernel.
 */
export function engineFact(input: {
  endpoint: string;
  info: EngineInfo;
  networks: readonly ListedNetwork[] | null;
  host: { local: boolean; kernel: string; bootId: string | null };
}): Extract<EngineFact, { state: 'reachable' }> {
  const { endpoint, info, networks, host } = input;
  const bootId = host.local && info.KernelVersion === host.kernel ? host.bootId : null;
  return {
    state: 'reachable',
    endpoint,
    id: stableIdOf(info),
    run: isPodman(info) ? bootId : runOf(networks),
    boot_id: bootId,
    ...(isRootless(info) ? { rootless: true } : {}),
  };
}

/** The engine runs as a user of the machine, in a user namespace. */
export function isRootless({ SecurityOptions: options }: EngineInfo): boolean {
  return (options ?? []).some((option) => option === 'rootless' || option.includes('name=rootless'));
}

/** Podman makes up another id at each call. */
export function stableIdOf(info: EngineInfo): string | null {
  return isPodman(info) ? null : info.ID || null;
}

/** Its service comes and goes with whoever asks; the containers run until the machine ends. */
function isPodman({ BuildahVersion: version }: EngineInfo): boolean {
  return Boolean(version);
}

function runOf(networks: readonly ListedNetwork[] | null): string | null {
  const bridge = networks?.find(({ Name }) => Name === 'bridge');
  return bridge?.Created ? `${bridge.Id}@${bridge.Created}` : null;
}
