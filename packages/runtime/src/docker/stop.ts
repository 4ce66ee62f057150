import { JackinError } from '@jackin/core';
import type { InstanceRef } from '../backend.ts';
import { engineFor, findContainer } from './acting.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { statusOf } from './errors.ts';
import { inspectContainer } from './lists.ts';
import type { DockerDeps } from './options.ts';

/** What the engine may take beyond the grace time. */
const ENGINE_MARGIN_MS = 30_000;

/**
 * Ends the container: the engine asks with SIGTERM and kills after `graceMs`. What is not there, does not run, or is
 * not ours needs nothing.
 * @throws JackinError `STOP_FAILED`
 */
export async function stopContainer(
  deps: DockerDeps,
  ref: InstanceRef,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const engine = await engineFor(deps, ref, signal);
  const selected = await findContainer(engine, ref, signal);
  if (selected.state !== 'ours') return;
  const { Id: id } = selected.container;
  await stopById(engine, id, graceMs, signal);
  if ((await inspectContainer(engine, id, signal))?.State.Running !== true) return;
  throw new JackinError({
    code: 'STOP_FAILED',
    message: `The engine was told to stop ${ref.container_base}, and it still runs`,
    hint: 'Run the same command again; if it does not help, restart the engine.',
  });
}

/** A paused one hears nothing, so it is continued first. */
export async function stopById(
  engine: EngineClient,
  id: string,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  const inspected = await inspectContainer(engine, id, signal);
  if (inspected === null || !inspected.State.Running) return;
  if (inspected.State.Paused) {
    await unlessDone(
      engine.call('Continuing the paused container', { signal }, (docker, inner) =>
        docker.getContainer(id).unpause(withSignal(inner, {})),
      ),
    );
  }
  const seconds = Math.ceil(graceMs / 1_000);
  await unlessDone(
    engine.call(
      'Stopping the container',
      { signal, timeoutMs: graceMs + ENGINE_MARGIN_MS },
      (docker, inner) => docker.getContainer(id).stop(withSignal(inner, { t: seconds })),
    ),
  );
}

/** Stopped already, or gone: that is what was wanted. */
async function unlessDone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const status = statusOf(error);
    if (status !== 304 && status !== 404 && status !== 409) throw error;
  }
}
