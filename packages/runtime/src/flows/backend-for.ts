import { JackinError } from '@jackin/core';
import { backendOf, type Manifest } from '@jackin/instance';
import type { Backend } from '../backend.ts';
import type { World } from './world.ts';

/** The backend an instance lives on. Throws BACKEND_UNAVAILABLE. */
export function backendFor(world: World, manifest: Manifest): Backend {
  const kind = backendOf(manifest);
  const backend = world.backendOf.get(kind);
  if (backend !== undefined) return backend;
  throw new JackinError({
    code: 'BACKEND_UNAVAILABLE',
    message: `${manifest.container_base} lives on the ${kind} backend, which this version does not have`,
    hint: 'Its state is kept. See what can be used here with: jackin doctor',
  });
}
