import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import type { AgentDefinition } from '@jackin/agents';
import type { MountSpec } from '@jackin/config';
import { fileSystemError, type Owner, toJackinError } from '@jackin/core';
import type { Recipe } from '@jackin/instance';
import { decideContainerUser, userText } from '../decide/container-user.ts';
import { describeImage } from '../docker/images/plan-image.ts';
import { locateRole, openRole } from '../docker/images/role-directory.ts';
import type { Role } from './roles.ts';
import type { World } from './world.ts';

/**
 * The agents a role's own manifest names: an image holds the ones it was made for. Null for a role that cannot be
 * opened: a new session is refused for that, and one that is there does not need it.
 */
export async function roleAgents(world: World, role: Role): Promise<readonly string[] | null> {
  try {
    return (await openRole(roleDirectory(world, role))).manifest.agents;
  } catch (error) {
    const { code, message } = toJackinError(error);
    world.events({
      type: 'debug',
      message: `the agents of ${role.key} are not known: ${message}`,
      fields: { code },
    });
    return null;
  }
}

/**
 * What a container adds to a recipe: the image its role and user make, known before any engine is asked, and who it
 * runs as (docs/status-and-causes.md#launch).
 * @throws JackinError what the role is refused for (docs/errors.md#roles), ROOT_SOURCE, USER_MISMATCH
 */
export async function dockerRecipe(
  world: World,
  input: { role: Role; agent: AgentDefinition; mounts: readonly MountSpec[] },
): Promise<Pick<Recipe, 'image_tag' | 'role' | 'base' | 'build'> & { user: string }> {
  const { role, agent, mounts } = input;
  const user = decideContainerUser({
    mounts: await Promise.all(mounts.map(async (mount) => ({ ...mount, owner: await ownerOf(mount.src) }))),
    agent,
    host: { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
  });
  if (user.outcome === 'refused') throw user.error;
  const image = await describeImage({
    roleDir: roleDirectory(world, role),
    roleKey: role.key,
    user: user.owner,
    args: {},
  });
  return {
    image_tag: image.image_tag,
    role: { ...role.source, content_hash: image.content_hash, dockerfile: image.dockerfile_path },
    ...(image.base_ref === null ? {} : { base: { ref: image.base_ref } }),
    build: { args: {}, context_hash: image.context_hash },
    user: userText(user.owner),
  };
}

function roleDirectory({ env, shippedRoles }: World, role: Role): string {
  const home = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
  return locateRole(role.source.source, { home, shippedRoles });
}

async function ownerOf(path: string): Promise<Owner> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    throw fileSystemError(error, path, 'read');
  }
}
