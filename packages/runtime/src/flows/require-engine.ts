import { JackinError } from '@jackin/core';
import type { Backend, EngineFact } from '../backend.ts';
import { takeInventory } from '../observe/inventory.ts';
import type { World } from './world.ts';

const LOOK_MS = 10_000;

/** The engine a launch would live on, as it is now. */
export async function seeEngine(world: World, kind: Backend['kind']): Promise<EngineFact> {
  const limitMs = world.bounds?.backendMs ?? LOOK_MS;
  return (await takeInventory(kind, world.backendOf.get(kind), [], limitMs)).engine;
}

/**
 * A launch asks for its engine before it makes anything, so that an engine that is not there leaves no trace.
 * @throws JackinError ENGINE_UNREACHABLE with what was tried
 */
export function requireEngine(engine: EngineFact, kind: Backend['kind']): void {
  if (engine.state === 'reachable') return;
  const other =
    kind === 'docker' ? ', or run the agent as a process of this machine: --backend standalone' : '';
  throw new JackinError({
    code: 'ENGINE_UNREACHABLE',
    message: `No engine to start the session on (${engine.endpoint}): ${engine.reason}`,
    hint: `Start the engine (\`jackin doctor\` shows what was tried)${other}.`,
    details: { endpoint: engine.endpoint, backend: kind },
  });
}
