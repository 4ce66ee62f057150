import { JackinError } from '@jackin/core';
import type { InstanceRef } from '../backend.ts';
import { imageSchema, type ListedImage } from './api.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { engineWords, statusOf, unless404 } from './errors.ts';
import { hasTag, sameImage } from './facts.ts';
import { isManaged, KEEP_REPOSITORY, LABEL, namesOf } from './labels.ts';
import { checked, listContainers, listImages } from './lists.ts';
import { imageGone, nameTaken } from './named-errors.ts';

/**
 * Gives an image the instance's keep tag, so that no prune and no moved tag takes it away.
 * @throws JackinError `IMAGE_GONE`, `NAME_TAKEN_BY_FOREIGN` when the tag names somebody else's image
 */
export async function pinImage(
  engine: EngineClient,
  ref: InstanceRef,
  imageId: string,
  signal: AbortSignal,
): Promise<void> {
  const { keepTag } = namesOf(ref.manifest);
  const own = keepTag === `${KEEP_REPOSITORY}:${ref.instance_id}`;
  const tagged = own ? await imageTagged(engine, keepTag, signal) : undefined;
  // Moved away, it may have been the last name of that image.
  if (tagged !== undefined && !sameImage(tagged.Id, imageId) && !isOurs(tagged, ref))
    throw nameTaken('image', keepTag);
  if (!(await tagImage(engine, imageId, ref.instance_id, signal)))
    throw imageGone(imageId, ref.container_base);
}

async function imageTagged(engine: EngineClient, tag: string, signal: AbortSignal) {
  return (await listImages(engine, signal)).find(({ RepoTags }) => hasTag(RepoTags, tag));
}

/** By what the instance recorded; labels tell only where it recorded nothing: whoever commits a container copies them. */
function isOurs({ Id: id, Labels }: ListedImage, { manifest }: InstanceRef): boolean {
  const { image_id, recipe, keep } = manifest;
  const recorded = [image_id, recipe?.image_id, keep?.image_id].filter((one) => one != null);
  return recorded.length === 0 ? isManaged(Labels) : recorded.some((one) => sameImage(one, id));
}

/**
 * Takes the keep tag away. An image that is not ours keeps it: with its last name the engine would take the image. Is it the last name of an image that another instance's container still uses, that one is
 * given its own keep tag first: the engine would refuse, or force would take the image from under it.
 * @throws JackinError `IMAGE_IN_USE` when only a foreign container uses it, `NAME_TAKEN_BY_FOREIGN`
 */
export async function removeKeepTag(
  engine: EngineClient,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<'removed' | 'absent'> {
  const { keepTag } = namesOf(ref.manifest);
  const image = await imageTagged(engine, keepTag, signal);
  if (image === undefined) return 'absent';
  if (!isOurs(image, ref)) throw nameTaken('image', keepTag);
  const name = image.RepoTags?.find((tag) => hasTag([tag], keepTag)) ?? keepTag;
  try {
    return await untag(engine, name, signal);
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    const users = (await listContainers(engine, signal)).filter(
      ({ ImageID, Labels }) => ImageID && sameImage(ImageID, image.Id) && isManaged(Labels),
    );
    const [other] = users
      .map(({ Labels }) => Labels?.[LABEL.instance])
      .filter((id) => id && id !== ref.instance_id);
    if (!other || !(await tagImage(engine, image.Id, other, signal))) throw imageInUse(name, error);
    return untag(engine, name, signal);
  }
}

/** The recorded image, if we made it and nothing uses it. */
export async function removeImage(
  engine: EngineClient,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<'removed' | 'absent'> {
  const id = ref.manifest.image_id ?? ref.manifest.recipe?.image_id;
  if (!id) return 'absent';
  const what = 'Looking for the image';
  const answer = await unless404(
    engine.call(what, { signal }, (docker, inner) => docker.getImage(id).inspect(withSignal(inner, {}))),
    null,
  );
  if (answer === null) return 'absent';
  const { Id, Config, RepoTags } = checked(what, imageSchema, answer);
  if (!isManaged(Config?.Labels)) throw imageInUse(Id, new Error('jackin did not make it'));
  try {
    const names = RepoTags && RepoTags.length > 0 ? RepoTags : [Id];
    for (const name of names) await untag(engine, name, signal);
    return 'removed';
  } catch (error) {
    throw statusOf(error) === 409 ? imageInUse(Id, error) : error;
  }
}

async function untag(engine: EngineClient, name: string, signal: AbortSignal): Promise<'removed' | 'absent'> {
  return unless404(
    engine.call(`Removing ${name}`, { signal, timeoutMs: 60_000 }, async (docker, inner) => {
      await docker.getImage(name).remove(withSignal(inner, { force: false }));
      return 'removed' as const;
    }),
    'absent' as const,
  );
}

/** False: there is no such image. */
async function tagImage(
  engine: EngineClient,
  imageId: string,
  tag: string,
  signal: AbortSignal,
): Promise<boolean> {
  return unless404(
    engine.call('Pinning the image', { signal }, async (docker, inner) => {
      await docker.getImage(imageId).tag(withSignal(inner, { repo: KEEP_REPOSITORY, tag }));
      return true;
    }),
    false,
  );
}

function imageInUse(name: string, cause: unknown): JackinError {
  return new JackinError({
    code: 'IMAGE_IN_USE',
    message: `The image ${name} was not removed: ${engineWords(cause)}`,
    hint: 'See which containers use it with `docker ps -a`; remove those you do not need, then run the same command again.',
    cause,
  });
}
