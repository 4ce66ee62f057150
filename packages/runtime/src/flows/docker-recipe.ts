import { stat } from 'node:fs/promises';
import type { AgentDefinition } from '@jackin/agents';
import { fromRepository, type MountSpec, type ResolvedRole, recordedRole } from '@jackin/config';
import { fileSystemError, type Owner } from '@jackin/core';
import type { Recipe } from '@jackin/instance';
import { decideContainerUser, userText } from '../decide/container-user.ts';
import { describeImage, type ImageDescription } from '../docker/images/plan-image.ts';

/**
 * What a container adds to a recipe: the image its role and user make, known before any engine is asked, and who it
 * runs as (docs/status-and-causes.md#launch).
 * @throws JackinError what the role is refused for (docs/errors.md#roles), ROOT_SOURCE, USER_MISMATCH, ROOTLESS_AGENT, ROOTLESS_ENGINE
 */
export async function dockerRecipe(input: {
  role: ResolvedRole;
  agent: AgentDefinition;
  mounts: readonly MountSpec[];
  rootless: boolean;
}): Promise<
  Pick<Recipe, 'image_tag' | 'role' | 'base' | 'build'> & Pick<Recipe['run'], 'user' | 'host_user'>
> {
  const { role, agent, mounts, rootless } = input;
  const user = decideContainerUser({
    mounts: await Promise.all(mounts.map(async (mount) => ({ ...mount, owner: await ownerOf(mount.src) }))),
    agent,
    host: { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
    rootless,
  });
  if (user.outcome === 'refused') throw user.error;
  const image = await describeRole(role, user.owner);
  return {
    image_tag: image.image_tag,
    role: {
      ...recordedRole(role.source),
      content_hash: image.content_hash,
      dockerfile: image.dockerfile_path,
    },
    ...(image.base_ref === null ? {} : { base: { ref: image.base_ref } }),
    build: { args: {}, context_hash: image.context_hash },
    user: userText(user.owner),
    ...(user.outside === undefined ? {} : { host_user: userText(user.outside) }),
  };
}

async function describeRole({ key, dir, source }: ResolvedRole, user: Owner): Promise<ImageDescription> {
  const commit = source.kind === 'git' ? source.commit : null;
  try {
    return await describeImage({ roleDir: dir, roleKey: key, user, commit, args: {} });
  } catch (error) {
    throw source.kind === 'git' ? fromRepository(error, source) : error;
  }
}

async function ownerOf(path: string): Promise<Owner> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    throw fileSystemError(error, path, 'read');
  }
}
