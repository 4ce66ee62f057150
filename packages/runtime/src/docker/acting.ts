import type { InstanceRef } from '../backend.ts';
import type { ListedContainer } from './api.ts';
import { namesOfListed } from './api.ts';
import type { EngineClient } from './engine.ts';
import { stableIdOf } from './facts.ts';
import { engineInfo, listContainers } from './lists.ts';
import { containerMissing, nameTaken, otherEngine } from './named-errors.ts';
import type { DockerDeps } from './options.ts';
import { type Selected, selectContainer } from './select.ts';

/**
 * The engine for a call that changes something about `ref`. An instance lives on the engine it was made on: another one
 * that answers at the moment is refused.
 * @throws JackinError `ENGINE_UNREACHABLE`, `ENGINE_TIMEOUT`, `OTHER_ENGINE`
 */
export async function engineFor(
  deps: DockerDeps,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<EngineClient> {
  signal.throwIfAborted();
  const engine = await deps.connector.engine(signal);
  const recorded = ref.manifest.engine;
  if (recorded === undefined) return engine;
  const id = recorded.id ? stableIdOf(await engineInfo(engine, signal)) : null;
  const same = recorded.id && id ? recorded.id === id : recorded.endpoint === engine.endpoint;
  if (!same) throw otherEngine(ref.container_base, engine.endpoint, recorded.endpoint);
  return engine;
}

/** The instance's container among all, freshly listed. */
export async function findContainer(
  engine: EngineClient,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<Selected> {
  return selectContainer(await listContainers(engine, signal), ref);
}

/** The same for a call that needs it. @throws JackinError `NAME_TAKEN_BY_FOREIGN`, `CONTAINER_MISSING` */
export async function requireContainer(
  engine: EngineClient,
  ref: InstanceRef,
  signal: AbortSignal,
): Promise<ListedContainer> {
  const selected = await findContainer(engine, ref, signal);
  if (selected.state === 'ours') return selected.container;
  const name = ref.container_base;
  if (selected.state === 'foreign')
    throw nameTaken('container', namesOfListed(selected.container)[0] ?? name);
  throw containerMissing(name, ref.instance_id);
}
