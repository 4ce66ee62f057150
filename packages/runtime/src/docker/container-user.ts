import type { Owner } from '@jackin/core';
import type { Recipe } from '@jackin/instance';
import { capsuleOwner } from '../decide/container-user.ts';

/** Who everything in the container runs as: the recipe's user, else the one who runs jackin. */
export function userOf(recipe: Recipe | undefined): Owner {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return (recipe === undefined ? undefined : capsuleOwner({ recipe })) ?? own;
}
