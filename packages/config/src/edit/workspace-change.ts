import { isTable, type TomlEdit, type TomlTable } from '../document/index.ts';
import { exitPolicyEdit, type ResolvedExitPolicy } from '../exit-policy.ts';
import { type MountSpec, samePlace } from '../mounts.ts';
import { type AuthChange, authEdits } from './auth.ts';
import { mountValue } from './docker-mounts.ts';
import { field } from './field.ts';
import { settingNotFound } from './variables.ts';

/** What to change of a workspace. What is absent stays; null takes it out of the file. */
export interface WorkspaceChange {
  workdir?: string;
  /** Destinations. */
  removeMounts?: readonly string[];
  addMounts?: readonly MountSpec[];
  /** Destination → kind. */
  isolation?: Readonly<Record<string, MountSpec['isolation']>>;
  disallowRoles?: readonly string[];
  allowRoles?: readonly string[];
  defaultRole?: string | null;
  lastRole?: null;
  defaultAgent?: string | null;
  backend?: string | null;
  gitPull?: boolean;
  exitPolicy?: ResolvedExitPolicy['value'] | null;
  dockerProfile?: string | null;
  /** Name of the grant → value. */
  grants?: Readonly<Record<string, unknown>>;
  /** `[docker.mounts]`: name → mount. */
  dockerMounts?: Readonly<Record<string, MountSpec | null>>;
  auth?: Readonly<Record<string, AuthChange>>;
}

/**
 * The edits that make a change of a workspace's file (docs/configuration.md#workspaces).
 * @param current the file as it is
 * @throws JackinError `SETTING_NOT_FOUND` for a mount or role that is not in its list; `AGENT_UNKNOWN`
 */
export function workspaceEdits(change: WorkspaceChange, current: TomlTable): TomlEdit[] {
  const { exitPolicy, auth = {}, grants = {}, dockerMounts = {} } = change;
  return [
    ...field(['workdir'], change.workdir),
    ...field(['default_role'], change.defaultRole),
    ...roleEdits(change, current),
    ...field(['last_role'], change.lastRole),
    ...field(['default_agent'], change.defaultAgent),
    ...field(['git_pull_on_entry'], change.gitPull),
    ...(exitPolicy === undefined ? [] : [exitPolicyEdit(exitPolicy)]),
    ...mountEdits(change, current),
    ...field(['runtime', 'backend'], change.backend),
    ...authEdits(auth),
    ...field(['docker', 'profile'], change.dockerProfile),
    ...Object.entries(grants).flatMap(([name, value]) => field(['docker', 'grants', name], value)),
    ...Object.entries(dockerMounts).flatMap(([name, mount]) =>
      field(['docker', 'mounts', name], mount === null ? null : mountValue(mount)),
    ),
  ];
}

function roleEdits({ allowRoles = [], disallowRoles = [] }: WorkspaceChange, current: TomlTable): TomlEdit[] {
  const path = ['allowed_roles'];
  const roles = listOf(current.allowed_roles);
  const removals = disallowRoles.map((role): TomlEdit => {
    const at = roles.indexOf(role);
    if (at === -1) throw settingNotFound('allowed_roles', 'role', [role], roles.map(String));
    roles.splice(at, 1);
    return { path: [...path, at], remove: true };
  });
  const additions = allowRoles
    .filter((role, at) => !roles.includes(role) && allowRoles.indexOf(role) === at)
    .map((role): TomlEdit => ({ path, append: role }));
  return [...removals, ...additions];
}

/** In this order, so that a mount can be replaced by one at the same place. */
function mountEdits(change: WorkspaceChange, current: TomlTable): TomlEdit[] {
  const { removeMounts = [], addMounts = [], isolation = {} } = change;
  const mounts = listOf(current.mounts).map((mount) => String(isTable(mount) ? mount.dst : mount));
  const positionOf = (dst: string) => {
    const at = mounts.findIndex((one) => samePlace(one, dst));
    if (at === -1) throw settingNotFound('mounts', 'mount at', [dst], mounts);
    return at;
  };
  const removals = removeMounts.map((dst): TomlEdit => {
    const at = positionOf(dst);
    mounts.splice(at, 1);
    return { path: ['mounts', at], remove: true };
  });
  const additions = addMounts.map((mount): TomlEdit => {
    mounts.push(mount.dst);
    return { path: ['mounts'], append: mountValue(mount) };
  });
  const kinds = Object.entries(isolation).map(
    ([dst, set]): TomlEdit => ({ path: ['mounts', positionOf(dst), 'isolation'], set }),
  );
  return [...removals, ...additions, ...kinds];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? [...value] : [];
}
