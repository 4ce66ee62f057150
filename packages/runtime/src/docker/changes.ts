import type { InstanceRef } from '../backend.ts';
import { engineFor, findContainer } from './acting.ts';
import { changesSchema, type InspectedContainer } from './api.ts';
import { withSignal } from './engine.ts';
import { unless404 } from './errors.ts';
import { checked, inspectContainer } from './lists.ts';
import type { DockerDeps } from './options.ts';

const CHANGES_MS = 10_000;
/** Made by the engine and by us at every start. */
const OURS = [
  ...['/jackin', '/home/agent', '/run', '/dev', '/proc', '/sys', '/.dockerenv'],
  ...['/sbin/docker-init', '/usr/sbin/docker-init', '/usr/bin/docker-init'],
  ...['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/etc/mtab'],
];

/** Paths changed in the writable layer by whoever worked in the container; null when there is no container of ours. */
export async function changedPaths(
  deps: DockerDeps,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<string[] | null> {
  const engine = await engineFor(deps, ref, signal);
  const selected = await findContainer(engine, ref, signal);
  if (selected.state !== 'ours') return null;
  const { Id: id } = selected.container;
  const inspected = await inspectContainer(engine, id, signal);
  if (inspected === null) return null;
  const what = 'Listing what changed in the container';
  const answer = await unless404(
    engine.call(what, { signal, timeoutMs: CHANGES_MS }, (docker, inner) =>
      docker.getContainer(id).changes(withSignal(inner, {})),
    ),
    undefined,
  );
  if (answer === undefined) return null;
  return withoutMounts(
    checked(what, changesSchema, answer).map(({ Path }) => Path),
    mountPoints(inspected),
  );
}

/**
 * Without what the mounts make: the mount points, what is below them, and the directories on the way to them. A
 * directory on the way in which something else changed shows by that change itself.
 */
export function withoutMounts(paths: readonly string[], mounts: readonly string[]): string[] {
  const points = [...OURS, ...mounts];
  return paths.filter(
    (path) => !points.some((point) => isBelow(path, point) || isBelow(point, path)) && path !== '/',
  );
}

function mountPoints({ Mounts, HostConfig }: InspectedContainer): string[] {
  return [
    ...(Mounts ?? []).map(({ Destination }) => Destination),
    ...(HostConfig.Mounts ?? []).map(({ Target }) => Target),
  ];
}

/** The same path, or one inside of it. */
function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory.replace(/\/$/, '')}/`);
}
