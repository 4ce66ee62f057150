import type { Manifest, Recipe } from '@jackin/instance';
import type { Backend, EngineFact, InstanceRef, StartContext } from '../backend.ts';
import type { Plan, Step } from '../plan.ts';
import { answerInvalid, type CreateAnswer, checkedAnswer, type StartAnswer } from './answers.ts';
import { CALL_MS, outside } from './context.ts';
import { mountedTrees, prepareViews } from './mounted-trees.ts';
import type { Handler, StepContext, StepOutcome } from './ports.ts';

/** An image build may take long; a start includes the capsule's own bound. In milliseconds. */
const BUILD_MS = 30 * 60_000;
const START_MS = 120_000;

export const createResources: Handler<'create_resources'> = async (step, context) => {
  if (context.plan.backend === 'docker') await prepareViews(context);
  const answer = await outside(context, 'Creating the container', BUILD_MS, async (signal) =>
    context.backend.create(await startContext(context, step.recipe, signal)),
  );
  const { created, image_id, ...origin } = checkedAnswer('create', answer);
  if (image_id !== null) {
    await context.ports.store.update(context.base, (manifest) => withImage(manifest, image_id, origin));
  }
  return created.length > 0
    ? { state: 'done', created }
    : { state: 'skipped', detail: 'nothing was missing' };
};

export const startContainer: Handler<'start_container'> = async (step, context) => {
  await startAndRecord(step.recipe, context);
  return { state: 'done' };
};

/**
 * A standalone capsule whose starter died before it could write down its identity is recorded now: starting what runs
 * only tells what runs. Without the record nothing could be said about its end.
 */
export async function recordUnrecorded(recipe: Recipe, context: StepContext): Promise<void> {
  if (context.plan.backend !== 'standalone') return;
  const facts = await context.facts();
  const container = facts?.observation.container;
  const recorded = facts?.manifest.backend?.standalone?.pid;
  if (container?.state !== 'running' || container.engine_ref === String(recorded)) return;
  await startAndRecord(recipe, context);
}

/** Starts it and records what identifies this run, so that the next look can tell it from another one. */
async function startAndRecord(recipe: Recipe, context: StepContext): Promise<void> {
  const { ports, base } = context;
  const answer = await outside(context, 'Starting the container', START_MS, async (signal) =>
    context.backend.start(await startContext(context, recipe, signal)),
  );
  const started = checkedAnswer('start', answer);
  if (context.plan.backend === 'standalone' && !started.standalone) throw answerInvalid('start');
  const at = ports.clock.now().toISOString();
  await ports.store.update(base, (manifest) => withRun(manifest, started, at));
}

export const renameContainer: Handler<'rename_container'> = async (step, context) => {
  const ref = await context.ref();
  await outside(context, 'Renaming the container', CALL_MS, (signal) =>
    context.backend.rename(ref, step.to, signal),
  );
  return { state: 'done' };
};

export const pinImage: Handler<'pin_image'> = async (step, context) => {
  const ref = await context.ref();
  await outside(context, 'Pinning the image', CALL_MS, (signal) =>
    context.backend.pinImage(
      { ...ref, instance_id: step.instance_id ?? ref.instance_id },
      step.image_id,
      signal,
    ),
  );
  return { state: 'done' };
};

/** Removes one engine resource. With a standalone process its recorded identity goes too: nothing carries it now. */
export function removeEngineResource(
  what: Parameters<Backend['remove']>[1],
): (step: Step, context: StepContext) => Promise<StepOutcome> {
  return async (_step, context) => {
    const ref = await context.ref();
    const layer = what === 'container' ? await layerToKeepInMind(context, ref) : null;
    const answer = checkedAnswer(
      'remove',
      await outside(context, `Removing the ${what}`, CALL_MS, (signal) =>
        context.backend.remove(ref, what, signal),
      ),
    );
    const aside = what === 'container' ? await removePutAside(context, ref) : 'absent';
    if (what === 'container' && ref.manifest.backend?.standalone) {
      await context.ports.store.update(context.base, (manifest) => ({
        ...manifest,
        backend: { ...manifest.backend, standalone: null },
      }));
    }
    if (layer !== null && answer === 'removed') {
      await context.ports.store.update(context.base, (manifest) => ({ ...manifest, removed_layer: layer }));
    }
    return answer === 'removed' || aside === 'removed'
      ? { state: 'done' }
      : { state: 'skipped', detail: 'it is gone already' };
  };
}

/** Only a clean-up leaves nothing: until then what a restore put aside is a way back. */
async function removePutAside(context: StepContext, ref: InstanceRef): Promise<'removed' | 'absent'> {
  if (context.plan.kind !== 'clean') return 'absent';
  const answer = await outside(context, 'Removing what a restore put aside', CALL_MS, (signal) =>
    context.backend.remove(ref, 'put_aside', signal),
  );
  return checkedAnswer('remove', answer);
}

/** A clean-up needs no memory of it, and what a failed launch or restore made held no session. */
const KEEPING: ReadonlySet<Plan['kind']> = new Set(['keep', 'eject']);

/** What goes with a container whose instance stays: the next restore must be able to say what it cannot bring back. */
async function layerToKeepInMind(
  context: StepContext,
  ref: InstanceRef,
): Promise<NonNullable<Manifest['removed_layer']> | null> {
  const { plan, ports, backend, base } = context;
  if (!KEEPING.has(plan.kind) || (await ports.store.read(base)) === null) return null;
  const answer = await outside(context, 'Listing what changed in the container', CALL_MS, (signal) =>
    backend.changedPaths(ref, signal),
  ).catch(() => null);
  if (!Array.isArray(answer)) return null;
  return { changed_paths: answer.length, at: ports.clock.now().toISOString() };
}

async function startContext(
  context: StepContext,
  recipe: Recipe,
  signal: AbortSignal,
): Promise<StartContext> {
  const { dir, home, state, sockets, agentConfig } = context.ports.paths.instance(context.base);
  const { mounts, env } = await mountedTrees(context, recipe);
  return {
    ref: await context.ref(),
    recipe,
    dirs: { data: dir, home, state, sockets, agent_config: agentConfig },
    mounts,
    env,
    signal,
  };
}

/** What the image is, and what it was built on: enough to build the same one again. */
function withImage(
  manifest: Manifest,
  imageId: string,
  { bases, base }: Pick<CreateAnswer, 'bases' | 'base'>,
): Manifest {
  const { recipe } = manifest;
  const image = { ...manifest, image_id: imageId };
  if (recipe === undefined || bases === undefined) return image;
  const build = { args: {}, ...recipe.build, bases };
  if (base == null) return { ...image, recipe: { ...recipe, build } };
  return {
    ...image,
    base_image_ref: base.ref,
    base_image_digest: base.digest,
    recipe: { ...recipe, base: { ...recipe.base, ...base }, build },
  };
}

function withRun(manifest: Manifest, started: StartAnswer, at: string): Manifest {
  const { removed_layer: _gone, ...next }: Manifest = manifest;
  if (started.standalone) next.backend = { ...manifest.backend, standalone: started.standalone };
  const { engine } = started;
  if (engine.state === 'reachable') {
    next.engine = { ...manifest.engine, ...engineRecord(engine, manifest.engine?.id) };
    if (engine.boot_id !== null) next.last_seen = { ...manifest.last_seen, at, boot_id: engine.boot_id };
  }
  return next;
}

/** An engine that does not say its id this time is still the one that was asked for by it. */
function engineRecord(
  engine: Extract<EngineFact, { state: 'reachable' }>,
  known: string | null | undefined,
): NonNullable<Manifest['engine']> {
  return { endpoint: engine.endpoint, id: engine.id ?? known ?? null, run: engine.run };
}
