import * as z from 'zod';
import type { ImageBase } from '../../backend.ts';
import { type CallOptions, type EngineClient, withSignal } from '../engine.ts';
import { unless404 } from '../errors.ts';
import { parseBasesLabel } from './bases.ts';

/** What identifies an image as built from one context. */
export interface ImageIdentity {
  roleKey: string;
  contextHash: string;
}

/** `other`: something is there by that name, and it is not what was built from this context, or not only. */
export type ImageLook =
  | { state: 'absent' }
  | { state: 'ours'; image_id: string; bases: ImageBase[] }
  | { state: 'other'; image_id: string; labelled: boolean };

const BASES_LABEL = 'jackin.bases';
const inspected = z.object({
  Id: z.string(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});
const history = z.array(z.object({ CreatedBy: z.string().nullish() }));

/** The labels of an image of ours (docs/storage.md#labels). */
export function imageLabels(identity: ImageIdentity): Record<string, string> {
  return {
    'jackin.managed': 'true',
    'jackin.kind': 'image',
    'jackin.role': identity.roleKey,
    'jackin.context': identity.contextHash,
  };
}

export { BASES_LABEL };

/**
 * Looks at the image of that name or id. Labels alone do not tell: an image made from ours, by a Dockerfile or by a
 * commit, inherits them. So the last thing in its history has to be our own last instruction too.
 */
export async function lookAtImage(
  engine: EngineClient,
  image: string,
  identity: ImageIdentity,
  options: CallOptions,
): Promise<ImageLook> {
  const found = await unless404(
    engine.call(`Looking at the image ${image}`, options, (docker, inner) =>
      docker.getImage(image).inspect(withSignal(inner, {})),
    ),
    null,
  );
  if (found === null) return { state: 'absent' };
  const { Id, Config } = inspected.parse(found);
  const labels = Config?.Labels ?? {};
  const labelled = Object.entries(imageLabels(identity)).every(([name, value]) => labels[name] === value);
  if (!labelled || !(await endsWithOurs(engine, Id, identity, options)))
    return { state: 'other', image_id: Id, labelled };
  return { state: 'ours', image_id: Id, bases: parseBasesLabel(labels[BASES_LABEL] ?? '') };
}

async function endsWithOurs(
  engine: EngineClient,
  imageId: string,
  { contextHash }: ImageIdentity,
  options: CallOptions,
): Promise<boolean> {
  const found = await unless404(
    engine.call(`Looking at the history of ${imageId}`, options, (docker) =>
      docker.getImage(imageId).history(),
    ),
    [],
  );
  const last = history.parse(found)[0]?.CreatedBy ?? '';
  return last.includes('LABEL') && last.includes(contextHash);
}
