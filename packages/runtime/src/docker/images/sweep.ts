import type { Clock } from '@jackin/core';
import { type EngineClient, withSignal } from '../engine.ts';
import { statusOf } from '../errors.ts';
import { engineInfo } from '../lists.ts';

const POLL_MS = 250;
const CALL_MS = 10_000;

export interface SweepOptions {
  /** The image that was built, and stays. */
  keep: string | null;
  /** When the build began, by the engine's clock, in milliseconds; null: it did not say, so nothing is removed. */
  sinceMs: number | null;
  /** How long to wait for a builder that was interrupted to let go of them, in milliseconds. */
  waitMs: number;
  clock: Clock;
}

/**
 * Removes the images without a name that one build of ours made, last first, and nothing else: not what it found in
 * the cache, not what was there before it began (the output of a step can look like a builder's line), not what has a name by now, not what another image or container stands on. Never throws: what stays is
 * rubbish, and the build's own end is the news.
 */
export async function sweepIntermediates(
  engine: EngineClient,
  made: readonly string[],
  { keep, sinceMs, waitMs, clock }: SweepOptions,
): Promise<void> {
  if (sinceMs === null) return;
  const giveUpMs = clock.monotonicMs() + waitMs;
  for (const id of [...made].reverse()) {
    if (keep?.startsWith(`sha256:${id}`)) continue;
    for (;;) {
      const removed = await removeUnnamed(engine, id, sinceMs);
      if (removed !== 'in_use' || clock.monotonicMs() >= giveUpMs) break;
      await clock.sleep(POLL_MS);
    }
  }
}

/** By the engine's clock, in milliseconds; null when it does not say. */
export async function engineTimeMs(engine: EngineClient, signal: AbortSignal): Promise<number | null> {
  const time = Date.parse((await engineInfo(engine, signal)).SystemTime ?? '');
  return Number.isNaN(time) ? null : time;
}

async function removeUnnamed(engine: EngineClient, id: string, sinceMs: number): Promise<'done' | 'in_use'> {
  // Not the caller's signal: that one may be what interrupted the build.
  const options = { signal: new AbortController().signal, timeoutMs: CALL_MS };
  try {
    const { RepoTags, Created } = await engine.call(`Looking at the image ${id}`, options, (docker, inner) =>
      docker.getImage(id).inspect(withSignal(inner, {})),
    );
    if (RepoTags !== null && RepoTags.length > 0) return 'done';
    if (!(Date.parse(Created) >= sinceMs)) return 'done';
    // Without its parents: those may be somebody else's.
    await engine.call(`Removing the image ${id}`, options, (docker) =>
      docker.getImage(id).remove({ noprune: true }),
    );
  } catch (error) {
    return statusOf(error) === 409 ? 'in_use' : 'done';
  }
  return 'done';
}
