import type { Owner } from '@jackin/core';
import type { Recipe } from '@jackin/instance';
import { capsuleOwner, containerUser } from '../decide/container-user.ts';

/** Who everything in the container runs as: the recipe's user, else the one who runs jackin. */
export function userOf(recipe: Recipe | undefined): Owner {
  return containerUser(recipe) ?? own();
}

/** Whom its files belong to on this host: another number than in the container where the engine is rootless. */
export function ownerOf(recipe: Recipe | undefined): Owner {
  return (recipe === undefined ? undefined : capsuleOwner({ recipe })) ?? own();
}

function own(): Owner {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}
