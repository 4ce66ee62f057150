import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { locateRole } from '@jackin/config';
import { acquireLock, type Clock, type EventSink, JackinError, type JackinPaths } from '@jackin/core';
import type { ImageBase, StartContext } from '../../backend.ts';
import { userOf } from '../container-user.ts';
import type { EngineClient } from '../engine.ts';
import type { EnsuredImage, ImagePort } from '../ports.ts';
import { basesLabel, ensureBases } from './bases.ts';
import { labelInstruction } from './derive.ts';
import { BASES_LABEL, type ImageIdentity, imageLabels, lookAtImage } from './existing-image.ts';
import { describeImage, type ImageDescription } from './plan-image.ts';
import { SHIPPED_ROLES } from './role-directory.ts';
import { roleDiffers } from './role-errors.ts';
import { BUILD_MS, runBuild } from './run-build.ts';

export interface ImagesOptions {
  paths: JackinPaths;
  events: EventSink;
  clock: Clock;
  /** What `~` means in the path of a role. */
  home: string;
  /** Where the roles of this package are; default: beside its sources. */
  shippedRoles?: string | undefined;
}

export interface BuiltImage extends EnsuredImage {
  /** Every image from outside it was built from, for `recipe.build.bases`. */
  bases: ImageBase[];
  /** The one its last stage stands on, for `recipe.base`; null for scratch. */
  base: ImageBase | null;
}

export interface Images extends ImagePort {
  ensure(engine: EngineClient, context: StartContext): Promise<BuiltImage>;
}

/**
 * Images of roles (docs/architecture.md#images): reused when the engine has one of exactly this content, else built.
 * Whoever wants the same image at the same time waits for the one build of it.
 */
export function createImages(options: ImagesOptions): Images {
  return { ensure: (engine, context) => ensure(options, engine, context) };
}

/**
 * @throws JackinError what `describeImage` throws; `ROLE_CHANGED` when the directory is no longer what the recipe
 * recorded; `IMAGE_BASE_UNAVAILABLE`, `IMAGE_BUILD_FAILED`, `LOCK_HELD`, and the engine's
 */
async function ensure(
  options: ImagesOptions,
  engine: EngineClient,
  context: StartContext,
): Promise<BuiltImage> {
  const { recipe, ref, signal } = context;
  const identity = { roleKey: ref.manifest.role_key };
  const image = await describeImage({
    roleDir: await locateRole(recipe.role, {
      ...options,
      shippedRoles: options.shippedRoles ?? SHIPPED_ROLES,
      signal,
    }),
    roleKey: identity.roleKey,
    user: userOf(recipe),
    commit: recipe.role.commit ?? null,
    args: recipe.build?.args ?? {},
  });
  const recorded = recipe.build?.context_hash ?? null;
  if (recorded !== null && recorded !== image.context_hash) {
    throw roleDiffers(image.context.dir, ref);
  }
  const target = { ...identity, contextHash: image.context_hash };
  const look = await lookAtImage(engine, image.image_tag, target, { signal });
  if (look.state === 'ours') return answer(image, look, false);
  const lock = await acquireLock(lockFile(options.paths, engine, image), {
    purpose: `building the image ${image.image_tag}`,
    locksDb: options.paths.locksDb,
    waitMs: BUILD_MS,
    signal,
    events: options.events,
    clock: options.clock,
  });
  try {
    return await findOrBuild(options, engine, context, image, target);
  } finally {
    await lock.release({ remove: true });
  }
}

/** Under the lock: another may have built it meanwhile. */
async function findOrBuild(
  options: ImagesOptions,
  engine: EngineClient,
  { recipe, signal }: StartContext,
  image: ImageDescription,
  target: ImageIdentity,
): Promise<BuiltImage> {
  const { events, clock } = options;
  const look = await lookAtImage(engine, image.image_tag, target, { signal });
  if (look.state === 'ours') return answer(image, look, false);
  if (look.state === 'other') {
    events({
      type: 'notice',
      level: 'warn',
      code: 'IMAGE_TAG_MOVED',
      message: `${image.image_tag} named another image (${look.image_id}); it is built anew. The other one is still there by its id.`,
    });
  }
  const startedMs = clock.monotonicMs();
  const stage = (state: 'started' | 'done' | 'failed', detail: string) => {
    const elapsed = state === 'started' ? {} : { elapsed_ms: Math.round(clock.monotonicMs() - startedMs) };
    events({ type: 'stage', stage: 'image', state, ...elapsed, detail });
  };
  stage('started', image.image_tag);
  try {
    const onPull = (base: string) => stage('started', `pulling ${base}`);
    const bases = await ensureBases(engine, image.base_refs, { signal, onPull });
    const labels = { ...imageLabels(target), [BASES_LABEL]: basesLabel(bases) };
    const id = await runBuild(engine, {
      image,
      dockerfile: image.dockerfile + labelInstruction(labels),
      args: recipe.build?.args ?? {},
      roleKey: target.roleKey,
      clock,
      signal,
      onStep: (step) => stage('started', step),
      onLine: (line) => events({ type: 'debug', message: line, fields: { image: image.image_tag } }),
    });
    const built = await lookAtImage(engine, id, target, { signal });
    if (built.state === 'absent' || (built.state === 'other' && !built.labelled)) throw incomplete(image, id);
    stage('done', image.image_tag);
    return answer(image, { image_id: id, bases }, true);
  } catch (error) {
    stage('failed', error instanceof Error ? error.message : String(error));
    throw error;
  }
}

function answer(
  image: ImageDescription,
  { image_id, bases }: { image_id: string; bases: ImageBase[] },
  built: boolean,
): BuiltImage {
  const base = bases.find(({ ref }) => ref === image.base_ref) ?? null;
  return { image_id, image_tag: image.image_tag, built, bases, base };
}

/** The end of a progress stream is no proof that it was the end of the build. */
function incomplete(image: ImageDescription, id: string): JackinError {
  return new JackinError({
    code: 'IMAGE_BUILD_FAILED',
    message: `The engine ended the build of ${image.image_tag} at ${id}, which is not the whole image`,
    hint: 'Look at the engine with `jackin doctor`, then run the same command again.',
    details: { image_tag: image.image_tag, image_id: id, log_tail: [] },
  });
}

/** One per image and engine: the same tag on two engines are two builds. */
function lockFile(paths: JackinPaths, engine: EngineClient, image: ImageDescription): string {
  const where = createHash('sha256').update(engine.endpoint).digest('hex').slice(0, 8);
  return join(paths.cacheDir, 'images', `${image.image_tag.replace(':', '-')}-${where}.lock`);
}
