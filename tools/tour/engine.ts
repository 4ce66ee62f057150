import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import { TourFailure } from './check.ts';

const CALL_LIMIT_MS = 20_000;
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 300;

/** What belongs to a tour: its instances by name, and whatever mounts something of its directory. */
export interface Belongings {
  root: string;
  bases: readonly string[];
}

/** The engine the tour's sessions run on, for what happens to a session from outside, and to look behind jackin. */
export interface TourEngine {
  /** As jackin names it: `unix:///…`. */
  readonly endpoint: string;
  isRunning(base: string): Promise<boolean>;
  /** What `docker kill BASE` does. */
  kill(base: string): Promise<void>;
  /** What `docker rm --force BASE` does. */
  removeByForce(base: string): Promise<void>;
  /** The containers, networks and image tags of `belongings`, as words. */
  remains(belongings: Belongings): Promise<string[]>;
  /** Removes all of them, whatever state they are in. Returns what withstood. */
  sweep(belongings: Belongings): Promise<string[]>;
}

interface Resource {
  name: string;
  remove(): Promise<unknown>;
}

/** A client of the engine at a Unix socket. Looks at nothing yet. */
export function openEngine(endpoint: string): TourEngine {
  if (!endpoint.startsWith('unix://'))
    throw new TourFailure(`the engine ${endpoint} should be at a Unix socket`);
  const docker = new Docker({ socketPath: endpoint.slice('unix://'.length), timeout: CALL_LIMIT_MS });
  return {
    endpoint,
    isRunning: async (base) => {
      const running = docker.listContainers({
        filters: { label: [`jackin.instance=${instanceIdOf(base)}`] },
      });
      return (await answer('name what runs', running)).length > 0;
    },
    kill: (base) => answer(`kill ${base}`, docker.getContainer(base).kill()),
    removeByForce: (base) => answer(`remove ${base}`, docker.getContainer(base).remove({ force: true })),
    remains: async (belongings) =>
      (await answer('name what it has', resources(docker, belongings))).map(({ name }) => name),
    sweep: (belongings) => sweep(docker, belongings),
  };
}

async function answer<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw new TourFailure(`the engine should ${what}, and says: ${(error as Error).message}`);
  }
}

/** Twice nothing is nothing: a command that was killed may have asked for a container a moment before. */
async function sweep(docker: Docker, belongings: Belongings): Promise<string[]> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (let empty = 0; ; ) {
    const found = await resources(docker, belongings);
    empty = found.length === 0 ? empty + 1 : 0;
    if (empty === 2) return [];
    if (performance.now() > deadlineMs) return found.map(({ name }) => name);
    // In this order: a network goes when its container is gone. What the engine refuses now is tried again.
    for (const { remove } of found) await remove().catch(() => {});
    await sleep(LOOK_AGAIN_MS);
  }
}

/** By jackin's labels (docs/storage.md#labels); never by a name alone. */
async function resources(docker: Docker, { root, bases }: Belongings): Promise<Resource[]> {
  const [containers, networks, images] = await Promise.all([
    docker.listContainers({ all: true }),
    docker.listNetworks(),
    docker.listImages(),
  ]);
  const ids = bases.map((base) => instanceIdOf(base) ?? base);
  const managed = (labels: Record<string, string> | null | undefined) =>
    labels?.['jackin.managed'] === 'true' ? labels : {};
  const ofContainers = containers
    .filter(
      ({ Labels, Mounts }) =>
        ids.includes(managed(Labels)['jackin.instance'] ?? '') ||
        (Object.keys(managed(Labels)).length > 0 && Mounts.some(({ Source }) => isBelow(Source, root))),
    )
    .map(({ Id, Names }) => ({
      name: `container ${Names[0]?.slice(1) ?? Id}`,
      remove: () => docker.getContainer(Id).remove({ force: true, v: true }),
    }));
  const ofNetworks = networks
    .filter(({ Labels }) => bases.includes(managed(Labels)['jackin.role'] ?? ''))
    .map(({ Id, Name }) => ({ name: `network ${Name}`, remove: () => docker.getNetwork(Id).remove() }));
  const tags = ids.map((id) => `jk-keep:${id}`);
  const ofImages = images
    .flatMap(({ RepoTags }) => RepoTags ?? [])
    .filter((tag) => tags.includes(tag.replace(/^localhost\//, '')))
    .map((tag) => ({ name: `image tag ${tag}`, remove: () => docker.getImage(tag).remove() }));
  return [...ofContainers, ...ofNetworks, ...ofImages];
}

/** The eight characters in `jk-<id>-…` (docs/storage.md#names). */
export function instanceIdOf(base: string): string | null {
  return /^jk-([0-9a-z]{8})-/.exec(base)?.[1] ?? null;
}

function isBelow(path: string | undefined, root: string): boolean {
  return path?.startsWith(`${root}/`) ?? false;
}
