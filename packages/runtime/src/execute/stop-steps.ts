import { JackinError, toJackinError } from '@jackin/core';
import { checkedAnswer } from './answers.ts';
import { CALL_MS, outside } from './context.ts';
import type { Handler, StepContext } from './ports.ts';

/** How long a capsule may take beyond the grace time it was given, in milliseconds. */
const STOP_MARGIN_MS = 5_000;

/**
 * Our stop request is on disk before anybody is asked, so that the exit record can be recognised as ours even if we
 * die here. A capsule that cannot be asked is ended by the backend.
 */
export const stopContainer: Handler<'stop_container'> = async (step, context) => {
  const { ports, base } = context;
  const running = await isRunning(context);
  const notes: string[] = [];
  if (running) {
    const at = ports.clock.now().toISOString();
    const stopRequest = { nonce: step.nonce, at, grace_ms: step.grace_ms };
    // Somebody may have removed its directory by hand: then there is nothing to write to.
    if ((await ports.store.read(base)) !== null) {
      await ports.store.update(base, (manifest) => ({ ...manifest, stop_request: stopRequest }));
    }
    const refusal = await askToStop(context, step.nonce, step.grace_ms);
    if (refusal !== null) notes.push(`the capsule could not be asked (${refusal}) and was ended`);
  }
  const ref = await context.ref();
  await outside(context, 'Stopping the container', stopBoundMs(step.grace_ms), (signal) =>
    context.backend.stop(ref, step.grace_ms, signal),
  );
  if (!running) return { state: 'skipped', detail: 'it was not running' };
  if (await isRunning(context)) throw stillRunning(base);
  return { state: 'done', ...(notes.length > 0 ? { detail: notes.join('; ') } : {}) };
};

export const endLeftovers: Handler<'end_leftovers'> = async (_step, context) => {
  const ref = await context.ref();
  const answer = await outside(context, 'Ending what is left of the session', CALL_MS, (signal) =>
    context.backend.endLeftovers(ref, signal),
  );
  const pids = checkedAnswer('endLeftovers', answer);
  if (pids.length === 0) return { state: 'skipped', detail: 'nothing was left' };
  return { state: 'done', detail: `ended ${pids.join(', ')}` };
};

/** Null when the capsule was asked and has closed; otherwise why not. */
async function askToStop(context: StepContext, nonce: string, graceMs: number): Promise<string | null> {
  try {
    const ref = await context.ref();
    const connection = await outside(context, 'The capsule', STOP_MARGIN_MS, (signal) =>
      context.ports.capsule.connect(ref, context.backend.capsule(ref), signal),
    );
    try {
      await outside(context, 'The capsule', graceMs + STOP_MARGIN_MS, () =>
        connection.stop({ nonce, graceMs }),
      );
      return null;
    } finally {
      connection.close();
    }
  } catch (thrown) {
    context.ports.signal?.throwIfAborted();
    return toJackinError(thrown).message;
  }
}

function stopBoundMs(graceMs: number): number {
  return graceMs * 2 + CALL_MS;
}

/** Throws ENGINE_UNREACHABLE: what cannot be looked at is not stopped. */
async function isRunning(context: StepContext): Promise<boolean> {
  const container = (await context.facts())?.observation.container;
  if (container?.state !== 'unreachable') return container?.state === 'running';
  throw new JackinError({
    code: 'ENGINE_UNREACHABLE',
    message: `Whether ${context.base} runs cannot be seen: ${container.reason}`,
    hint: 'Run `jackin doctor`, then the same command again.',
  });
}

function stillRunning(base: string): JackinError {
  return new JackinError({
    code: 'STOP_FAILED',
    message: `${base} was told to stop and still runs`,
    hint: 'Run the same command again, or look at it with `jackin hardline`.',
  });
}
