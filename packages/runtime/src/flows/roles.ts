import type { LoadedConfig, Target } from '@jackin/config';
import { JackinError } from '@jackin/core';
import type { Recipe } from '@jackin/instance';

/** A role as far as a launch needs to know it. */
export interface Role {
  key: string;
  displayName: string;
  /** The agents it supports, its default first; null: every known one. */
  agents: readonly string[] | null;
  git: string | null;
  source: Recipe['role'];
}

const DEFAULT_ROLE = 'agent-smith';

/** The roles inside the package, so that a first run needs no repository. */
const SHIPPED: readonly Role[] = [
  {
    key: 'agent-smith',
    displayName: 'Agent Smith',
    agents: null,
    git: null,
    source: { source: 'builtin:agent-smith' },
  },
  { key: 'shell', displayName: 'Shell', agents: ['shell'], git: null, source: { source: 'builtin:shell' } },
];

/**
 * The role of a launch: the one named, else the workspace's, else `agent-smith` (docs/configuration.md#roles).
 * @throws JackinError ROLE_UNKNOWN listing the known ones, ROLE_NOT_ALLOWED by the workspace
 */
export function resolveRole(requested: string | null, target: Target, loaded: LoadedConfig): Role {
  const { workspace } = target;
  const key = requested ?? workspace?.default_role ?? workspace?.last_role ?? DEFAULT_ROLE;
  const role = configuredRole(key, loaded) ?? SHIPPED.find((shipped) => shipped.key === key);
  if (role === undefined) throw unknown(key, loaded);
  const allowed = workspace?.allowed_roles ?? [];
  if (allowed.length === 0 || allowed.includes(key)) return role;
  throw new JackinError({
    code: 'ROLE_NOT_ALLOWED',
    message: `The workspace ${target.label} does not allow the role ${JSON.stringify(key)}`,
    hint: `It allows: ${allowed.join(', ')}`,
    details: { role: key, allowed },
  });
}

function configuredRole(key: string, { config }: LoadedConfig): Role | undefined {
  const configured = Object.hasOwn(config.roles, key) ? config.roles[key] : undefined;
  const source = configured?.git ?? configured?.path;
  if (configured === undefined || source === undefined) return undefined;
  return {
    key,
    displayName: key,
    agents: null,
    git: configured.git ?? null,
    source: { source },
  };
}

function unknown(key: string, { config }: LoadedConfig): JackinError {
  const known = [...new Set([...SHIPPED.map((role) => role.key), ...Object.keys(config.roles)])];
  const looksLikePath = /[./~]/.test(key);
  return new JackinError({
    code: 'ROLE_UNKNOWN',
    message: `There is no role ${JSON.stringify(key)}.`,
    hint: looksLikePath
      ? `The role comes first. Did you mean: jackin load ${DEFAULT_ROLE} ${key}`
      : `Known roles: ${known.join(', ')}. Others are configured as [roles.<key>] in config.toml.`,
    details: { role: key, known },
    exitCode: 2,
  });
}
