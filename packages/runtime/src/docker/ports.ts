import type { ImageOrigin, StartContext } from '../backend.ts';
import type { EngineClient } from './engine.ts';

export interface EnsuredImage extends ImageOrigin {
  /** `sha256:…`; the container is created from it, never from the tag. */
  image_id: string;
  image_tag: string;
  /** False when an image of the same content was there already. */
  built: boolean;
}

/** Where the image of a launch comes from (docs/architecture.md#backends). */
export interface ImagePort {
  /**
   * Builds or reuses the image of the recipe (role directory and user) on this engine. Emits progress events. Called
   * only when the recipe names no image id: a restore uses its image by id. Every engine call goes through
   * `engine.call` with `context.signal`. Errors are JackinError.
   */
  ensure(engine: EngineClient, context: StartContext): Promise<EnsuredImage>;
}
