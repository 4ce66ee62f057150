import { JackinError } from '@jackin/core';
import type { Manifest, ResolvedInstance } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { TreeLook } from '../observe/isolated-facts.ts';
import { backendFor } from './backend-for.ts';
import { rowOnly } from './row-only.ts';
import type { World } from './world.ts';

/**
 * The instance a selector names, with its manifest. Throws INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS, MANIFEST_CORRUPT, and
 * CLEANUP_INTERRUPTED or DIRECTORY_REMOVED when only its row is left.
 */
export async function namedInstance(
  world: World,
  selector: string,
): Promise<ResolvedInstance & { manifest: Manifest }> {
  const found = await world.store.resolve(selector);
  const { manifest } = found;
  if (manifest === null) {
    const { rowsWithoutManifest } = await world.store.load();
    const row = rowsWithoutManifest.find((one) => one.container_base === found.container_base);
    if (row !== undefined && row.status !== 'purged') throw new JackinError(rowOnly(row));
    throw new JackinError({
      code: 'CLEANUP_INTERRUPTED',
      message: `Of ${found.container_base} only its row is left: its clean-up was interrupted`,
      hint: `Finish it with: jackin purge ${found.instance_id}`,
    });
  }
  return { ...found, manifest };
}

/** Fresh facts of an instance that must still exist, on a backend that is here. Throws INSTANCE_GONE, BACKEND_UNAVAILABLE. */
export async function factsOf(world: World, base: string, trees?: TreeLook): Promise<InstanceFacts> {
  const facts = await world.lookAt(base, undefined, trees);
  if (facts !== null) {
    backendFor(world, facts.manifest);
    return facts;
  }
  throw new JackinError({
    code: 'INSTANCE_GONE',
    message: `${base} was removed by another jackin meanwhile`,
    hint: 'See what is there with: jackin status',
  });
}
