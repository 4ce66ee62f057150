import type { Plant } from './plant.ts';
import { programs } from './programs.ts';
import { readers } from './readers.ts';
import { shapes } from './shapes.ts';

export type { Plant } from './plant.ts';
export { CONTAINER, hostileScene, type Scene } from './scene.ts';

/** Every way we know to make a git on the host run, read or believe what somebody planted in a tree. */
export const corpus: readonly Plant[] = [...programs, ...readers, ...shapes];
