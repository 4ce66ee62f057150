import type { World } from '../world.ts';

/** One thing somebody does. */
export interface Step {
  name: string;
  /** How often, against the others. */
  weight: number;
  /** False where it does not apply here. A git that refuses is a plausible step all the same. */
  take(world: World): boolean | undefined;
}

export function step(name: string, weight: number, take: (world: World) => boolean | undefined): Step {
  return { name, weight, take };
}
