import { JackinError } from '@jackin/core';
import type { InstanceRef } from '../backend.ts';
import { imageSchema } from './api.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { engineWords, statusOf, unless404 } from './errors.ts';
import { hasTag, sameImage } from './facts.ts';
import { isManaged, KEEP_REPOSITORY, LABEL, namesOf } from './labels.ts';
import { checked, listContainers, listImages } from './lists.ts';
import { imageGone } from './named-errors.ts';

/** Gives an image the instance's keep tag, so that no prune and no moved tag takes it away. @throws `IMAGE_GONE` */
export async function pinImage(
  engine: EngineClient,
  ref: InstanceRef,
  imageId: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await tagImage(engine, imageId, ref.instance_id, signal)))
    throw imageGone(imageId, ref.container_base);
}

/**
 * Takes the keep tag away. Is it the last name of an image that another instance's container still uses, that one is
 * given its own keep tag first: the engine would refuse, or force would take the image from under it.
 * @throws JackinError `IMAGE_IN_USE` when only a foreign container uses it
 */
export async function removeKeepTag(
  engine: EngineClient,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<'removed' | 'absent'> {
  const { keepTag } = namesOf(ref.manifest);
  const image = (await listImages(engine, signal)).find(({ RepoTags }) => hasTag(RepoTags, keepTag));
  if (image === undefined) return 'absent';
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
