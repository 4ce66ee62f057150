import {
  cachedCheckout,
  createRole,
  listRoles,
  migrateRole,
  type RoleEntry,
  roleEntry,
} from '@jackin/config';
import { JackinError, toJackinError } from '@jackin/core';
import { validateRole } from '../../docker/images/role-validate.ts';
import { roleOptions } from '../roles.ts';
import type { World } from '../world.ts';
import type { RoleVerbs } from './api.ts';
import type { ConfigurationResult } from './documents.ts';
import { typedPath } from './typed-change.ts';

type Request<Verb extends keyof RoleVerbs> = Parameters<RoleVerbs[Verb]>[0];

/** `jackin role validate DIR|KEY`: exit code 1 when a launch would refuse it. Changes and fetches nothing. */
export async function validate(world: World, { role }: Request<'validate'>): Promise<ConfigurationResult> {
  const document = await validateRole(await directoryOf(world, role));
  return { kind: 'role_report', document, exitCode: document.valid ? 0 : 1 };
}

/** `jackin role migrate DIR` */
export async function migrate(
  world: World,
  { dir, dryRun }: Request<'migrate'>,
): Promise<ConfigurationResult> {
  const migrated = await migrateRole(typedPath(world, dir), { dryRun });
  return { kind: 'role_migration', document: { ...migrated, dry_run: dryRun }, exitCode: 0 };
}

/** `jackin role create DIR` */
export async function create(world: World, { dir, name }: Request<'create'>): Promise<ConfigurationResult> {
  return { kind: 'role_created', document: await createRole(typedPath(world, dir), name), exitCode: 0 };
}

/** `jackin role list` */
export async function list(world: World): Promise<ConfigurationResult> {
  const roles = await listRoles(roleOptions(world, await world.config(), null));
  return { kind: 'roles', document: { roles }, exitCode: 0 };
}

/** A key wins over a directory of that name, which `./name` reaches; what is no word is a directory. */
async function directoryOf(world: World, role: string): Promise<string> {
  if (!/^[A-Za-z0-9][\w-]*$/.test(role)) return typedPath(world, role);
  const entry = await entryOf(world, role);
  if (entry === null) return typedPath(world, role);
  if (entry.kind !== 'git') return entry.dir;
  const cached = await cachedCheckout(entry.git, null, world.paths);
  if (cached !== null) return cached.dir;
  throw new JackinError({
    code: 'ROLE_NOT_FETCHED',
    message: `The role ${role} was never fetched, so there is nothing to look at`,
    hint: `Validate a clone of ${entry.git.url}, or load the role once.`,
    details: { role, git: entry.git.url },
  });
}

async function entryOf(world: World, key: string): Promise<RoleEntry | null> {
  try {
    return await roleEntry(key, roleOptions(world, await world.config(), null));
  } catch (thrown) {
    const error = toJackinError(thrown);
    if (error.code === 'ROLE_UNKNOWN') return null;
    throw error;
  }
}
