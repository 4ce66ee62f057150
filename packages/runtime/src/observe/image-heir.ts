import { backendOf, type Manifest } from '@jackin/instance';
import type { InstanceObservation } from '../backend.ts';
import { recordedImage } from '../decide/restore-image.ts';

/**
 * Another instance that could not come back without the image, whose only name is the keep tag of this one.
 * @param known every instance; asked for only where the answer can matter
 * @returns its id, or null
 */
export async function imageHeir(
  known: () => Promise<readonly Manifest[]>,
  manifest: Manifest,
  { image }: InstanceObservation,
): Promise<string | null> {
  if (image?.by_keep_tag.state !== 'present') return null;
  const { image_id: id } = image.by_keep_tag;
  if (image.by_tag.state === 'present' && image.by_tag.image_id === id) return null;
  const heir = (await known()).find(
    (other) =>
      other.instance_id !== manifest.instance_id &&
      backendOf(other) === 'docker' &&
      recordedImage(other) === id,
  );
  return heir?.instance_id ?? null;
}
