import { lstat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { READY_LINE } from '@jackin/capsule/protocol';
import { errorCode, JackinError } from '@jackin/core';
import type { EngineFact, StartContext } from '../backend.ts';
import { engineFor, requireContainer } from './acting.ts';
import type { InspectedContainer } from './api.ts';
import { INSIDE } from './container-config.ts';
import type { EngineClient } from './engine.ts';
import { engineArch } from './engine-arch.ts';
import { statusOf } from './errors.ts';
import { engineInfo, inspectContainer, listNetworks, look } from './lists.ts';
import { capsuleStartFailed, containerMissing, mountOrPortProblem, startFailed } from './named-errors.ts';
import { mendNetwork } from './network.ts';
import { engineFactOf } from './observe.ts';
import type { DockerDeps } from './options.ts';
import { attachOutput, type Outcome, watchOutput } from './output-watch.ts';
import { stopById } from './stop.ts';
import { capsuleEndpoint } from './transport.ts';

const READY_MS = 30_000;
/** What the engine may take besides, in milliseconds. */
const ENGINE_MS = 60_000;
const UNDO_MS = 15_000;
/** The engine writes down the start a moment after the first output may have come. */
const LOG_MARGIN_S = 2;

/**
 * Starts the instance's container and resolves when its capsule says that it listens; one that runs is left alone. Its
 * network is made anew and connected where it is gone, and so are the runtime files. A start that fails leaves nothing
 * running.
 * @throws JackinError `CONTAINER_MISSING`, `NAME_TAKEN_BY_FOREIGN`, `MOUNT_SOURCE_MISSING`, `PORT_CONFLICT`,
 * `START_FAILED` with the engine's words, `CAPSULE_START_FAILED` with the end of its log
 */
export async function startContainer(
  deps: DockerDeps,
  context: StartContext,
): Promise<{ engine: EngineFact }> {
  const { ref, signal } = context;
  const engine = await engineFor(deps, ref, signal);
  const { Id: id } = await requireContainer(engine, ref, signal);
  const inspected = await inspectContainer(engine, id, signal);
  if (inspected === null) throw containerMissing(ref.container_base, ref.instance_id);
  if (inspected.State.Running) {
    await untilItAnswers(deps, context, engine, id);
  } else {
    await restoreRuntime(deps, engine, inspected, signal);
    const made = await mendNetwork(engine, ref, inspected, signal);
    for (const one of made)
      deps.events({ type: 'debug', message: `${one} made again for ${ref.container_base}` });
    await startAndWait(deps, context, engine, id);
  }
  const [info, networks] = await Promise.all([
    look(signal, () => engineInfo(engine, signal)),
    look(signal, () => listNetworks(engine, signal)),
  ]);
  return { engine: await engineFactOf(engine, { info, networks }) };
}

/** The output is attached to first: the capsule may be ready before the engine has answered. */
async function startAndWait(
  deps: DockerDeps,
  context: StartContext,
  engine: EngineClient,
  id: string,
): Promise<void> {
  const { ref, signal } = context;
  const base = ref.container_base;
  const readyMs = deps.readyMs ?? READY_MS;
  let asked = false;
  try {
    await engine.call(
      `Starting ${base}`,
      { signal, timeoutMs: readyMs + ENGINE_MS },
      async (docker, inner) => {
        const output = await attachOutput(docker, id, inner);
        try {
          const watch = watchOutput(output, READY_LINE);
          asked = true;
          await docker.getContainer(id).start({ abortSignal: inner });
          const outcome = await watch.outcome(readyMs, inner);
          if (outcome.state !== 'seen')
            throw await whyNot(engine, context, id, outcome, watch.tail(), readyMs);
        } finally {
          output.destroy();
        }
      },
    );
  } catch (error) {
    // Somebody else has just started it: that one is not ours to stop.
    if (statusOf(error) === 304) return untilItAnswers(deps, context, engine, id);
    if (asked) await undo(engine, id);
    signal.throwIfAborted();
    if (statusOf(error) === null) throw error;
    throw mountOrPortProblem(error, base) ?? startFailed(error, base, ref.instance_id);
  }
}

async function whyNot(
  engine: EngineClient,
  { ref, signal }: StartContext,
  id: string,
  outcome: Outcome,
  tail: string,
  readyMs: number,
): Promise<JackinError> {
  const base = ref.container_base;
  if (outcome.state === 'silent') {
    return capsuleStartFailed(base, `it did not listen within ${readyMs} ms`, tail);
  }
  const state = (await inspectContainer(engine, id, signal))?.State;
  const code = state?.ExitCode ?? null;
  const reason = state?.Error ? `, ${state.Error}` : '';
  return capsuleStartFailed(
    base,
    `it ended with ${code === null ? 'an unknown code' : `code ${code}`} before it listened${reason}`,
    tail,
  );
}

/** A running container whose starter may have died: it is on its way, or it listens. */
async function untilItAnswers(
  deps: DockerDeps,
  context: StartContext,
  engine: EngineClient,
  id: string,
): Promise<void> {
  const { ref, signal } = context;
  if (await answers(deps, context)) return;
  const readyMs = deps.readyMs ?? READY_MS;
  const inspected = await inspectContainer(engine, id, signal);
  const startedAt = Date.parse(inspected?.State.StartedAt ?? '') / 1_000;
  const since = Number.isNaN(startedAt) ? 0 : Math.max(0, Math.floor(startedAt) - LOG_MARGIN_S);
  const what = `Waiting for the capsule of ${ref.container_base}`;
  await engine.call(what, { signal, timeoutMs: readyMs + ENGINE_MS }, async (docker, inner) => {
    const output = (await docker
      .getContainer(id)
      .logs({ follow: true, stdout: true, stderr: true, since, abortSignal: inner })) as Readable;
    try {
      const watch = watchOutput(output, READY_LINE);
      const outcome = await watch.outcome(readyMs, inner);
      if (outcome.state !== 'seen') {
        throw await whyNot(engine, context, id, outcome, watch.tail(), readyMs);
      }
    } finally {
      output.destroy();
    }
  });
}

async function answers(deps: DockerDeps, { ref, signal }: StartContext): Promise<boolean> {
  try {
    (await capsuleEndpoint(deps, ref).open(signal)).destroy();
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof JackinError && error.code === 'CAPSULE_UNREACHABLE') return false;
    throw error;
  }
}

/** The runtime files are ours to make again; if they are others by now, the engine says what is missing. */
async function restoreRuntime(
  deps: DockerDeps,
  engine: EngineClient,
  inspected: InspectedContainer,
  signal: AbortSignal,
): Promise<void> {
  const source = inspected.HostConfig.Mounts?.find(({ Target }) => Target === INSIDE.runtime)?.Source;
  if (!source) return;
  try {
    await lstat(source);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') await deps.runtime(await engineArch(engine, signal), signal);
  }
}

/** No session runs in it yet, so nothing is lost; whoever cancelled does not wait for it. */
async function undo(engine: EngineClient, id: string): Promise<void> {
  await stopById(engine, id, 0, AbortSignal.timeout(UNDO_MS)).catch(() => {});
}
