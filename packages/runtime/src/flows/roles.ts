import {
  fromRepository,
  type LoadedConfig,
  peekRole,
  type ResolvedRole,
  type RoleEntry,
  type RoleOptions,
  resolveRole,
  roleEntry,
  roleUnsupported,
  type Target,
} from '@jackin/config';
import { JackinError, toJackinError } from '@jackin/core';
import { SHIPPED_ROLES } from '../docker/images/role-directory.ts';
import type { LoadRequest } from './api.ts';
import { homeOf } from './home.ts';
import type { World } from './world.ts';

/** The role of a launch. */
export interface LaunchRole {
  key: string;
  /** As far as it is known before anything is made; null: it cannot be opened, or was never fetched. */
  known: ResolvedRole | null;
  /** The role a new session is made of, trusted and refreshed. A resumed session has its own and does not ask. */
  open(): Promise<ResolvedRole>;
}

const DEFAULT_ROLE = 'agent-smith';

/**
 * The role of a launch: the one named, else the workspace's, else `agent-smith` (docs/roles.md). What hinders a new
 * session is thrown when one is made: one that is there can be resumed whatever became of its role.
 * @throws JackinError ROLE_UNKNOWN listing the known ones, ROLE_NOT_ALLOWED by the workspace, ROLE_DECLINED, and with
 *   `session: 'new'` what {@link resolveRole} throws
 */
export async function launchRole(
  world: World,
  request: Pick<LoadRequest, 'role' | 'roleBranch' | 'session' | 'dryRun'>,
  target: Target,
  loaded: LoadedConfig,
): Promise<LaunchRole> {
  const { workspace } = target;
  const key = request.role ?? workspace?.default_role ?? workspace?.last_role ?? DEFAULT_ROLE;
  const options = roleOptions(world, loaded, request.roleBranch ?? null);
  const entry = await roleEntry(key, options);
  refuseForbidden(key, target);
  const open = once(() =>
    request.dryRun ? asCached(entry, options) : trustedAndFresh(world, entry, options),
  );
  const resumes = request.session !== null && request.session !== 'new';
  const needsTrust = entry.kind === 'git' && !entry.trusted;
  const look = async () => {
    if (!resumes && !request.dryRun && !needsTrust) return open();
    const cached = await peekRole(key, options);
    return cached === null && !resumes ? open() : cached;
  };
  const known = await look().catch((thrown: unknown) => {
    const { code, message } = toJackinError(thrown);
    if (request.session === 'new' || code === 'ROLE_DECLINED') throw thrown;
    world.events({ type: 'debug', message: `the role ${key} is not known: ${message}`, fields: { code } });
    return null;
  });
  return { key, known, open };
}

/**
 * The agents a session of a role can run, its default first; null: every known one. A process of this machine finds
 * the programs of the machine, so the general role leaves the choice open there.
 */
export function agentsOf(role: ResolvedRole, backend: 'docker' | 'standalone'): readonly string[] | null {
  const general = role.source.kind === 'shipped' && role.key === DEFAULT_ROLE;
  return backend === 'standalone' && general ? null : role.manifest.agents;
}

/**
 * What a role asks for and a session does not get, in words, where it is no reason to refuse it
 * (docs/roles.md#fields-without-effect).
 * @throws JackinError ROLE_UNSUPPORTED for what must not be left out
 */
export function roleNotices(role: ResolvedRole, backend: 'docker' | 'standalone', agent: string): string[] {
  const { unsupported, models } = role.manifest;
  const model = models[agent];
  const ofContainer = unsupported.filter((field) => field.startsWith('docker.'));
  // On an engine the image is refused for all of them; a process has no container to restrict.
  const needed = unsupported.filter((field) => !ofContainer.includes(field));
  if (backend === 'standalone' && needed.length > 0) throw unsupportedHere(role, needed);
  return [
    ...(backend === 'standalone'
      ? ofContainer.map(
          (field) => `standalone has no container: ${field} of the role ${role.key} is not enforced`,
        )
      : []),
    ...(model === undefined
      ? []
      : [
          `the role ${role.key} names the model ${model} for ${agent}: this version starts it with its own choice`,
        ]),
  ];
}

/** What looking for a role takes. */
export function roleOptions(world: World, loaded: LoadedConfig, branch: string | null): RoleOptions {
  const { paths, env, clock, events, shippedRoles } = world;
  const home = homeOf(world);
  return { loaded, paths, clock, events, env, home, branch, shippedRoles: shippedRoles ?? SHIPPED_ROLES };
}

async function trustedAndFresh(world: World, entry: RoleEntry, options: RoleOptions): Promise<ResolvedRole> {
  const ask = entry.kind === 'git' && !entry.trusted && world.prompts.available;
  if (!ask) return resolveRole(entry.key, options);
  const agreed = await world.prompts.confirm({
    title: `use the role ${entry.key} from ${entry.git.url} this once`,
    removes: [],
    warnings: [
      'What is in it runs when its image is built and in every session.',
      `To trust it from now on: jackin config trust ${entry.key}`,
    ],
  });
  if (agreed) return resolveRole(entry.key, { ...options, trustedOnce: true });
  throw new JackinError({
    code: 'ROLE_DECLINED',
    message: `The role ${entry.key} was not trusted, so nothing was started`,
    hint: `Look at ${entry.git.url}, then: jackin config trust ${entry.key}`,
    details: { role: entry.key, git: entry.git.url },
  });
}

function unsupportedHere({ dir, source }: ResolvedRole, fields: string[]): unknown {
  const error = roleUnsupported(dir, fields);
  return source.kind === 'git' ? fromRepository(error, source) : error;
}

/** A dry run fetches nothing and asks nobody. */
async function asCached(entry: RoleEntry, options: RoleOptions): Promise<ResolvedRole> {
  const cached = await peekRole(entry.key, options);
  if (cached === null) {
    throw new JackinError({
      code: 'ROLE_NOT_FETCHED',
      message: `The role ${entry.key} was never fetched, so what it would make cannot be told`,
      hint: 'A dry run fetches nothing. Run the same command without --dry-run.',
      details: { role: entry.key },
    });
  }
  return cached;
}

function refuseForbidden(key: string, { workspace, label }: Target): void {
  const allowed = workspace?.allowed_roles ?? [];
  if (allowed.length === 0 || allowed.includes(key)) return;
  throw new JackinError({
    code: 'ROLE_NOT_ALLOWED',
    message: `The workspace ${label} does not allow the role ${JSON.stringify(key)}`,
    hint: `It allows: ${allowed.join(', ')}`,
    details: { role: key, allowed },
  });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
