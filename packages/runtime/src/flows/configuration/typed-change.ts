import { resolve } from 'node:path';
import {
  type AuthChange,
  expandHome,
  type MountSpec,
  parseMount,
  settingValue,
  type WorkspaceChange,
} from '@jackin/config';
import { JackinError } from '@jackin/core';
import { homeOf } from '../home.ts';
import { parseIsolation } from '../launch-mounts.ts';
import type { World } from '../world.ts';
import type { TypedWorkspaceChange } from './api.ts';

/** These grants are lists, typed with commas. */
const LISTS: ReadonlySet<string> = new Set(['allowed_hosts', 'capabilities_add']);

/**
 * A change of a workspace as the configuration takes it: paths made absolute, mounts and pairs read.
 * @throws JackinError MOUNT_INVALID, USAGE for what is no pair
 */
export function typedChange(world: World, typed: TypedWorkspaceChange): WorkspaceChange {
  const { workdir, mounts = [], mountIsolation = [] } = typed;
  const mountOf = (text: string) => typedMount(world, text);
  return {
    ...(workdir === undefined ? {} : { workdir: typedPath(world, workdir) }),
    removeMounts: (typed.removeMounts ?? []).map((dst) => typedPath(world, dst)),
    addMounts: mounts.map(mountOf),
    isolation: Object.fromEntries(mountIsolation.map(parseIsolation)),
    ...given('allowRoles', typed.allowRoles),
    ...given('disallowRoles', typed.disallowRoles),
    ...given('defaultRole', typed.defaultRole),
    ...given('lastRole', typed.lastRole),
    ...given('defaultAgent', typed.defaultAgent),
    ...given('backend', typed.backend),
    ...given('gitPull', typed.gitPull),
    ...given('exitPolicy', typed.exitPolicy),
    ...given('dockerProfile', typed.dockerProfile),
    grants: {
      ...nulls(typed.clearGrants),
      ...pairs('--grant', typed.grants, (value, name) =>
        LISTS.has(name) ? value.split(',').filter((item) => item !== '') : settingValue(value),
      ),
    },
    dockerMounts: {
      ...nulls(typed.removeDockerMounts),
      ...pairs('--docker-mount', typed.dockerMounts, mountOf),
    },
    auth: authOf(world, typed),
  };
}

/** @throws JackinError MOUNT_INVALID */
export function typedMount(world: World, text: string): MountSpec {
  return parseMount(text, { cwd: world.cwd, home: homeOf(world) });
}

/** A path as it is typed, absolute. */
export function typedPath(world: World, text: string): string {
  return resolve(world.cwd, expandHome(text, homeOf(world)));
}

/**
 * `NAME=VALUE` as it is typed.
 * @param flag for the message
 * @throws JackinError USAGE
 */
export function typedPair(flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new JackinError({
    code: 'USAGE',
    // What follows may be a secret that lost its name.
    message: `${flag} takes NAME=VALUE, and there is no name`,
    hint: 'Write the name, "=", and the value without spaces around it.',
    exitCode: 2,
  });
}

function authOf(world: World, typed: TypedWorkspaceChange): Record<string, AuthChange> {
  const changes: Record<string, AuthChange> = {};
  for (const agent of typed.clearAuth ?? []) changes[agent] = { mode: null, syncSourceDir: null };
  for (const [agent, mode] of Object.entries(pairs('--auth', typed.auth, (text) => text))) {
    changes[agent] = { ...changes[agent], mode };
  }
  const directories = pairs('--sync-source-dir', typed.syncSourceDirs, (text) => typedPath(world, text));
  for (const [agent, syncSourceDir] of Object.entries(directories)) {
    changes[agent] = { ...changes[agent], syncSourceDir };
  }
  return changes;
}

function pairs<T>(
  flag: string,
  texts: readonly string[] = [],
  read: (value: string, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(
    texts.map((text) => {
      const [name, value] = typedPair(flag, text);
      return [name, read(value, name)];
    }),
  );
}

function nulls(names: readonly string[] = []): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

function given<K extends keyof WorkspaceChange>(
  key: K,
  value: WorkspaceChange[K] | undefined,
): Partial<WorkspaceChange> {
  return value === undefined ? {} : { [key]: value };
}
