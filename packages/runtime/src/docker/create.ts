import { ensurePrivateDir } from '@jackin/core';
import type { Backend, ImageOrigin, StartContext } from '../backend.ts';
import { engineFor, findContainer } from './acting.ts';
import { namesOfListed } from './api.ts';
import { containerConfig } from './container-config.ts';
import { ownerOf, userOf } from './container-user.ts';
import { createContainer, isNameConflict } from './create-container.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { engineArch } from './engine-arch.ts';
import { statusOf, unless404 } from './errors.ts';
import { namesOf } from './labels.ts';
import { inspectContainer, listNetworks } from './lists.ts';
import { imageGone, mountOrPortProblem, nameTaken } from './named-errors.ts';
import { createNetwork, ownNetwork, removeNetworkById } from './network.ts';
import type { DockerDeps } from './options.ts';
import { preflight } from './preflight.ts';

const UNDO_MS = 15_000;

/**
 * Makes what is missing of an instance: its directories, network and container. What is there and ours is left alone,
 * what is foreign is refused before anything is made, and a failure takes back the network made for it.
 * @throws JackinError `NAME_TAKEN_BY_FOREIGN`, `ADDRESS_POOLS_EXHAUSTED`, `IMAGE_GONE`, `IMAGE_INCOMPATIBLE`,
 * `MOUNT_SOURCE_MISSING`, `MOUNT_CONFLICT`, what the image port throws, and what `engineFor` does
 */
export async function createResources(
  deps: DockerDeps,
  context: StartContext,
): ReturnType<Backend['create']> {
  const { ref, recipe, dirs, signal } = context;
  const engine = await engineFor(deps, ref, signal);
  const names = namesOf(ref.manifest);
  const selected = await findContainer(engine, ref, signal);
  if (selected.state === 'foreign') {
    throw nameTaken('container', namesOfListed(selected.container)[0] ?? names.container);
  }
  const network = ownNetwork(await listNetworks(engine, signal), ref);
  const user = userOf(recipe);
  for (const dir of [dirs.home, dirs.state]) await ensurePrivateDir(dir, ownerOf(recipe));
  if (selected.state === 'ours') {
    // `start` sees to its network: a new one of the same name would not help it.
    const { ImageID: imageId, Id: id } = selected.container;
    return { created: [], image_id: imageId || (await inspectContainer(engine, id, signal))?.Image || null };
  }
  const image = await imageFor(deps, engine, context);
  const runtime = await deps.runtime(await engineArch(engine, signal), signal);
  await preflight({ engine, paths: deps.paths, image, user, runtime, signal });
  const ensured = network === null ? await createNetwork(engine, ref, signal) : null;
  const madeNetwork = ensured?.made ? ensured.id : null;
  try {
    const config = containerConfig({
      manifest: ref.manifest,
      recipe,
      dirs,
      user,
      names,
      image,
      runtimeDir: runtime.dir,
      mounts: context.mounts,
      env: context.env,
    });
    const made = await createOnce(engine, context, config, image.id);
    // Two networks of one name would be one too many for whoever made the container.
    if (!made && madeNetwork !== null) await undoNetwork(engine, madeNetwork);
    deps.events({ type: 'debug', message: `container ${names.container} made`, fields: { image: image.id } });
    return {
      created: [
        ...(image.built ? [`image ${image.tag}`] : []),
        ...(made && madeNetwork !== null ? [`network ${names.network}`] : []),
        ...(made ? [`container ${names.container}`] : []),
      ],
      image_id: image.id,
      ...(image.bases === undefined ? {} : { bases: image.bases }),
      ...(image.base === undefined ? {} : { base: image.base }),
    };
  } catch (error) {
    if (madeNetwork !== null) await undoNetwork(engine, madeNetwork);
    throw error;
  }
}

/** False: somebody else made it in this very moment, and it is ours. */
async function createOnce(
  engine: EngineClient,
  { ref, signal }: StartContext,
  config: Parameters<typeof createContainer>[1]['config'],
  imageId: string,
): Promise<boolean> {
  const name = namesOf(ref.manifest).container;
  try {
    await createContainer(engine, { name, config, signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isNameConflict(error)) {
      if ((await findContainer(engine, ref, signal)).state === 'ours') return false;
      throw nameTaken('container', name);
    }
    if (statusOf(error) === 404) throw imageGone(imageId, ref.container_base, error);
    throw mountOrPortProblem(error, ref.container_base) ?? error;
  }
}

interface Image extends ImageOrigin {
  id: string;
  tag: string;
  built: boolean;
}

/** A restore names its image: that one or none. */
async function imageFor(deps: DockerDeps, engine: EngineClient, context: StartContext): Promise<Image> {
  const { recipe, ref, signal } = context;
  if (!recipe.image_id) {
    const { image_id: id, image_tag: tag, ...rest } = await deps.images.ensure(engine, context);
    return { id, tag, ...rest };
  }
  const id = recipe.image_id;
  const found = await unless404(
    engine.call('Looking for the image', { signal }, (docker, inner) =>
      docker.getImage(id).inspect(withSignal(inner, {})),
    ),
    null,
  );
  if (found === null) throw imageGone(id, ref.container_base);
  return { id, tag: recipe.image_tag, built: false };
}

async function undoNetwork(engine: EngineClient, id: string): Promise<void> {
  await removeNetworkById(engine, id, AbortSignal.timeout(UNDO_MS)).catch(() => {});
}
