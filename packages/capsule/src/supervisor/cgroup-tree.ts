import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export type Controller = 'memory' | 'pids' | 'cpu';

/** Where a controller's control groups are made. */
export interface Hierarchy {
  version: 1 | 2;
  /** Directory of the group this process is in. */
  own: string;
  /** Directory of the highest group that can be seen. */
  root: string;
}

/** The hierarchy of each controller; one that is missing is not there or cannot be seen. Linux only. */
export function findHierarchies(
  mountinfo: string = read('/proc/self/mountinfo'),
  membership: string = read('/proc/self/cgroup'),
): Map<Controller, Hierarchy> {
  const found = new Map<Controller, Hierarchy>();
  const mounts = mountinfo.split('\n').map(parseMount);
  for (const line of membership.split('\n')) {
    const match = /^\d+:([^:]*):(.*)$/.exec(line);
    if (match === null) continue;
    const [, names = '', path = ''] = match;
    for (const controller of ['memory', 'pids', 'cpu'] as const) {
      const mount = mounts.find((one) => one !== null && carries(one, names, controller));
      if (mount === undefined || mount === null) continue;
      const version = names === '' ? 2 : 1;
      const hierarchy: Hierarchy = { version, own: directoryOf(mount, path), root: mount.mountPoint };
      if (version === 2 && !unifiedControllers(hierarchy).includes(controller)) continue;
      // A controller is in one hierarchy only; version 1 lists its own, version 2 those left to it.
      if (!found.has(controller)) found.set(controller, hierarchy);
    }
  }
  return found;
}

interface Mount {
  root: string;
  mountPoint: string;
  type: string;
  options: string[];
}

function parseMount(line: string): Mount | null {
  const [front = '', back = ''] = line.split(' - ');
  const [, , , root, mountPoint] = front.split(' ');
  const [type = '', , options = ''] = back.split(' ');
  if (root === undefined || mountPoint === undefined || !type.startsWith('cgroup')) return null;
  return { root, mountPoint, type, options: options.split(',') };
}

function carries(mount: Mount, names: string, controller: Controller): boolean {
  if (names === '') return mount.type === 'cgroup2';
  return (
    mount.type === 'cgroup' && names.split(',').includes(controller) && mount.options.includes(controller)
  );
}

/** The mount may show only a part of the tree, and a namespace may hide where that part lies. */
function directoryOf(mount: Mount, path: string): string {
  const below = relative(mount.root, path);
  return below.startsWith('..') ? mount.mountPoint : join(mount.mountPoint, below);
}

function unifiedControllers({ own, root }: Hierarchy): string[] {
  return [own, root].flatMap((directory) => read(join(directory, 'cgroup.controllers')).trim().split(' '));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
