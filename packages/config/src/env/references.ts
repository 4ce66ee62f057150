import { JackinError } from '@jackin/core';
import type { ConfigIssue } from '../errors.ts';
import type { Env, EnvValue } from '../schema/shared.ts';
import type { LoadedConfig, Target } from '../types.ts';

/** What an environment variable is made of, without its value: this is stored and replayed by every restore. */
export interface EnvReference {
  name: string;
  /**
   * `literal:TEXT`, `$NAME` of the host, or `op://vault/item/field`, which a 1Password account follows as
   * `?account=NAME` when one is configured.
   */
  source: string;
}

const RESERVED = new Set([
  'DOCKER_HOST',
  'DOCKER_TLS_VERIFY',
  'DOCKER_CERT_PATH',
  'TESTCONTAINERS_HOST_OVERRIDE',
]);

/**
 * The variables of a session in the order global → role → workspace → workspace and role; later ones win
 * (docs/configuration.md#values). Those marked `on_demand` are left out.
 * @throws JackinError `ENV_RESERVED` listing every reserved name of every layer
 */
export function envReferences(
  loaded: Pick<LoadedConfig, 'config'>,
  target: Pick<Target, 'workspaceName' | 'workspace'>,
  roleKey: string,
): EnvReference[] {
  const layers = layersOf(loaded, target, roleKey);
  refuseReserved(layers);
  const merged = new Map<string, EnvValue>();
  for (const { env } of layers) {
    for (const [name, value] of Object.entries(env)) merged.set(name, value);
  }
  return [...merged].flatMap(([name, value]) => {
    const onDemand = typeof value === 'object' && value.on_demand === true;
    return onDemand ? [] : [{ name, source: sourceOf(value) }];
  });
}

/** Plain texts that look like a 1Password reference: they reach the agent as they are, hardly ever as meant. */
export function literalReferences(holder: { env: Env; roles: Record<string, { env: Env }> }): ConfigIssue[] {
  const layers: [string, Env][] = [
    ['env', holder.env],
    ...Object.entries(holder.roles).map(([key, role]): [string, Env] => [`roles.${key}.env`, role.env]),
  ];
  return layers.flatMap(([key, env]) =>
    Object.entries(env)
      .filter(([, value]) => sourceOf(value).startsWith('literal:op://'))
      .map(([name]) => ({
        key: `${key}.${name}`,
        reason: 'this is plain text; to have it read from 1Password write { op = "op://…" }',
      })),
  );
}

function layersOf(
  loaded: Pick<LoadedConfig, 'config'>,
  target: Pick<Target, 'workspaceName' | 'workspace'>,
  roleKey: string,
): { layer: string; env: Env }[] {
  const { config } = loaded;
  const { workspace } = target;
  const role = own(config.roles, roleKey);
  const workspaceRole = workspace === null ? undefined : own(workspace.roles, roleKey);
  const name = target.workspaceName ?? 'workspace';
  return [
    { layer: '[env]', env: config.env },
    { layer: `[roles.${roleKey}.env]`, env: role?.env ?? {} },
    { layer: `${name} [env]`, env: workspace?.env ?? {} },
    { layer: `${name} [roles.${roleKey}.env]`, env: workspaceRole?.env ?? {} },
  ];
}

function refuseReserved(layers: { layer: string; env: Env }[]): void {
  const offenders = layers.flatMap(({ layer, env }) =>
    Object.keys(env)
      .filter((name) => RESERVED.has(name) || name.startsWith('JACKIN'))
      .map((name) => ({ name, layer })),
  );
  if (offenders.length === 0) return;
  const list = offenders.map(({ name, layer }) => `${name} in ${layer}`).join(', ');
  throw new JackinError({
    code: 'ENV_RESERVED',
    message: `These variables are set by jackin itself: ${list}.`,
    hint: 'Remove them from the configuration, or give them other names.',
    details: { offenders },
  });
}

function sourceOf(value: EnvValue): string {
  if (typeof value === 'string') return textSource(value);
  if (!('op' in value)) return textSource(value.value);
  const { op, account } = value as { op: string; account?: string };
  if (account === undefined) return op;
  return `${op}${op.includes('?') ? '&' : '?'}account=${encodeURIComponent(account)}`;
}

function textSource(text: string): string {
  const match = /^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$/.exec(text);
  return match === null ? `literal:${text}` : `$${match[1] ?? match[2]}`;
}

function own<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
