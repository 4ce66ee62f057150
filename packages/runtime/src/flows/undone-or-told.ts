import { toJackinError } from '@jackin/core';
import type { World } from './world.ts';

/** Undoes what a failure left; a failure to undo is told and does not hide the first one. @returns whether it was undone */
export async function undoneOrTold(world: World, undo: () => Promise<unknown>): Promise<boolean> {
  try {
    await undo();
    return true;
  } catch (second) {
    const { code, message } = toJackinError(second);
    world.events({
      type: 'notice',
      level: 'warn',
      code,
      message: `Not everything could be undone: ${message}`,
    });
    return false;
  }
}
