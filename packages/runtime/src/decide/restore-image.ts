import { JackinError } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import { describeRebuild } from './describe-rebuild.ts';

type ImageChoice =
  /** `doubt`: why the operator has to consent to this image, or null. */
  | { outcome: 'image'; imageId: string; doubt: string | null }
  /** Its launch ended before it had an image: what the launch would have built is built. */
  | { outcome: 'build' }
  | { outcome: 'blocked'; error: JackinError };

/**
 * The image a new container is made from: by the recorded id, then by our keep tag, which only we move. The recorded
 * tag counts only while it still names the recorded image; naming another one is drift and is never used silently
 * (docs/status-and-causes.md#ladder). An image that could not be looked at blocks: IMAGE_NOT_OBSERVABLE. One that is
 * gone needs a rebuild, which this version cannot do: IMAGE_GONE; one that never was is built.
 */
export function chooseImage(facts: InstanceFacts): ImageChoice {
  const { image } = facts.observation;
  const { manifest } = facts;
  const recorded = recordedImage(manifest);
  if (image === null) return unseen(facts, 'it was not looked at');
  const { by_id: byId, by_keep_tag: byKeepTag, by_tag: byTag } = image;
  const use = (imageId: string, doubt: string | null = null): ImageChoice => ({
    outcome: 'image',
    imageId,
    doubt,
  });
  if (recorded !== null) {
    if (byId.state === 'present') return use(byId.image_id);
    if (byId.state === 'unknown') return unseen(facts, byId.reason);
  }
  if (neverHadImage(manifest)) return { outcome: 'build' };
  if (byKeepTag.state === 'unknown') return unseen(facts, byKeepTag.reason);
  if (byKeepTag.state === 'present' && (recorded === null || byKeepTag.image_id === recorded)) {
    return use(byKeepTag.image_id);
  }
  if (byTag.state === 'unknown') return unseen(facts, byTag.reason);
  if (byTag.state === 'present' && byTag.image_id === recorded) return use(byTag.image_id);
  if (byTag.state === 'present' && recorded === null) {
    return use(
      byTag.image_id,
      `its image id was never recorded, so ${manifest.image_tag} may name another image`,
    );
  }
  return gone(facts, recorded, byTag.state === 'present' ? byTag.image_id : null);
}

/** The id is recorded as soon as there is a container, before any session: without both there never was one. */
export function neverHadImage(manifest: Manifest): boolean {
  return recordedImage(manifest) === null && manifest.recipe !== undefined && manifest.sessions.length === 0;
}

/** The image an instance was made from, as far as its record tells. */
export function recordedImage({ image_id: id, recipe, keep }: Manifest): string | null {
  return id ?? recipe?.image_id ?? keep?.image_id ?? null;
}

function unseen({ container_base: base }: InstanceFacts, reason: string): ImageChoice {
  return {
    outcome: 'blocked',
    error: new JackinError({
      code: 'IMAGE_NOT_OBSERVABLE',
      message: `Whether the image of ${base} still exists cannot be seen: ${reason}`,
      hint: 'Run `jackin doctor`, then the same command again.',
    }),
  };
}

function gone(facts: InstanceFacts, recorded: string | null, drifted: string | null): ImageChoice {
  const { manifest, container_base: base } = facts;
  const id = recorded ?? 'never recorded';
  const rebuild = manifest.recipe === undefined ? null : describeRebuild(manifest.recipe);
  const needs = rebuild === null ? '' : `. A rebuild would need ${rebuild.lines.join('; ')}`;
  const drift = drifted === null ? '' : `; ${manifest.image_tag} now names another image, ${drifted} (drift)`;
  return {
    outcome: 'blocked',
    error: new JackinError({
      code: 'IMAGE_GONE',
      message: `The image of ${base} is gone: id ${id}, tag ${manifest.image_tag}, no keep tag${drift}${needs}`,
      hint: 'Its state is kept; this version cannot rebuild an image. Bring that image back (docker load, docker pull), then run the same command.',
      details: {
        image_id: recorded,
        image_tag: manifest.image_tag,
        drifted_to: drifted,
        tier: 3,
        rebuild: rebuild?.lines ?? [],
        not_recorded: rebuild?.missing ?? [],
      },
    }),
  };
}
