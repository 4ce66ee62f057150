import { JackinError } from '@jackin/core';
import { type ConfigSource, type FieldIssue, locate } from '../errors.ts';
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
  loaded: Pick<LoadedConfig, 'config' | 'sources'>,
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
    return onDemand ? [] : [{ name, source: envSource(value) }];
  });
}

/** Variables jackin sets itself. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name) || name.startsWith('JACKIN');
}

/** What holds variables: a whole file, or a role in it. */
interface EnvHolder {
  env: Env;
  github?: { env?: Env | undefined } | undefined;
}

/** Plain texts that look like a 1Password reference: they reach the agent as they are, hardly ever as meant. */
export function literalReferences(file: EnvHolder & { roles: Record<string, EnvHolder> }): FieldIssue[] {
  return variablesIn(file)
    .filter(({ value }) => envSource(value).startsWith('literal:op://'))
    .map(({ path }) => ({
      path,
      reason: 'this is plain text; to have it read from 1Password write { op = "op://…" }',
    }));
}

/** Variables of any layer of one file that jackin sets itself. */
export function reservedNames(file: EnvHolder & { roles: Record<string, EnvHolder> }): FieldIssue[] {
  return variablesIn(file)
    .filter(({ name }) => isReservedName(name))
    .map(({ path, name }) => ({ path, reason: `${name} is set by jackin itself`, fix: RESERVED_FIX }));
}

const RESERVED_FIX = 'Remove them from the configuration, or give them other names.';

/** One error for all of them. @param offenders as they are told: which variable, and where it is set */
export function envReserved(
  offenders: ({ name: string; where: string } & Record<string, unknown>)[],
): JackinError {
  const list = offenders.map(({ name, where }) => `${name} in ${where}`).join(', ');
  return new JackinError({
    code: 'ENV_RESERVED',
    message: `These variables are set by jackin itself: ${list}.`,
    hint: RESERVED_FIX,
    details: { offenders },
  });
}

function variablesIn(file: EnvHolder & { roles: Record<string, EnvHolder> }) {
  const ofHolder = (holder: EnvHolder, at: string[]): [string[], Env][] => [
    [[...at, 'env'], holder.env],
    [[...at, 'github', 'env'], holder.github?.env ?? {}],
  ];
  const layers = [
    ...ofHolder(file, []),
    ...Object.entries(file.roles).flatMap(([key, role]) => ofHolder(role, ['roles', key])),
  ];
  return layers.flatMap(([path, env]) =>
    Object.entries(env).map(([name, value]) => ({ path: [...path, name], name, value })),
  );
}

interface Layer {
  layer: string;
  env: Env;
  path: string[];
  source: ConfigSource | null | undefined;
}

function layersOf(
  { config, sources }: Pick<LoadedConfig, 'config' | 'sources'>,
  target: Pick<Target, 'workspaceName' | 'workspace'>,
  roleKey: string,
): Layer[] {
  const { workspace } = target;
  const role = own(config.roles, roleKey);
  const workspaceRole = workspace === null ? undefined : own(workspace.roles, roleKey);
  const name = target.workspaceName ?? 'workspace';
  const ofRole = ['roles', roleKey, 'env'];
  const source = sources?.workspaces.get(name);
  return [
    { layer: '[env]', env: config.env, path: ['env'], source: sources?.config },
    { layer: `[roles.${roleKey}.env]`, env: role?.env ?? {}, path: ofRole, source: sources?.config },
    { layer: `${name} [env]`, env: workspace?.env ?? {}, path: ['env'], source },
    { layer: `${name} [roles.${roleKey}.env]`, env: workspaceRole?.env ?? {}, path: ofRole, source },
  ];
}

function refuseReserved(layers: Layer[]): void {
  const offenders = layers.flatMap(({ layer, env, path, source }) =>
    Object.keys(env)
      .filter(isReservedName)
      .map((name) => {
        const [place] = source ? locate(source, [{ path: [...path, name], reason: '' }]) : [];
        if (!source || place === undefined) return { name, layer, where: layer };
        const { key, line } = place;
        return { name, layer, where: `${layer} (${source.file}:${line})`, file: source.file, key, line };
      }),
  );
  if (offenders.length > 0) throw envReserved(offenders);
}

/** A configured value as a recipe stores it. */
export function envSource(value: EnvValue): string {
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
