import { JackinError } from '@jackin/core';
import { backendOf, isRestorable } from '@jackin/instance';
import type { Startable } from '../backend.ts';
import type { InstanceFacts } from '../facts.ts';
import { obstacle } from './obstacle.ts';
import { chooseImage } from './restore-image.ts';
import { classifyStartFailure } from './start-failure.ts';

export type RestoreTier =
  | { outcome: 'tier'; tier: 0; agent: 'alive' | 'ended' }
  | { outcome: 'tier'; tier: 1 }
  | { outcome: 'tier'; tier: 2; imageId: string | null; renamesOld: boolean; needsConsent: string | null }
  | { outcome: 'blocked'; error: JackinError };

const PUT_BACK = 'Put back what is missing, then run the same command again.';

/**
 * The highest tier of the ladder that is possible (docs/status-and-causes.md#ladder). The order is strict: what
 * cannot be looked at blocks, it never makes way for a lower tier.
 * @param startFailure the engine's words when a start of the container was tried and failed just now
 */
export function restoreTier(
  facts: InstanceFacts,
  now: string,
  startFailure: string | null = null,
): RestoreTier {
  const { container } = facts.observation;
  const refusal = notRestorable(facts);
  if (refusal !== null) return blocked(refusal);
  // A living session can be joined even while another process holds the lock.
  if (container.state === 'running' && facts.engine.state === 'reachable' && facts.engine_matches !== 'no') {
    const tier = runningTier(facts);
    if (tier.outcome === 'tier' && tier.agent === 'alive') return tier;
    const hindrance = obstacle(facts, now);
    return hindrance === null ? tier : blocked(hindrance);
  }
  const hindrance = obstacle(facts, now, { unprovenAbsence: 'allow' });
  if (hindrance !== null) return blocked(hindrance);
  if (facts.manifest.recipe === undefined) return blocked(recipeMissing(facts));
  if (container.state === 'missing') {
    return backendOf(facts.manifest) === 'standalone' ? { outcome: 'tier', tier: 1 } : absent(facts);
  }
  if (container.state !== 'stopped') throw new Error(`no tier for a container that is ${container.state}`);
  return stoppedTier(facts, container.startable, startFailure);
}

type ZeroTier = Extract<RestoreTier, { tier: 0 }> | Extract<RestoreTier, { outcome: 'blocked' }>;

function runningTier(facts: InstanceFacts): ZeroTier {
  const { capsule, container_base: base, instance_id: id } = facts;
  if (capsule.state !== 'answers') {
    return blocked(
      new JackinError({
        code: 'CAPSULE_SILENT',
        message: `${base} runs, but its capsule does not answer: ${capsule.reason}`,
        hint: `Run \`jackin stop ${id}\`, then \`jackin resume ${id}\`.`,
      }),
    );
  }
  if (capsule.sessions.some((session) => session.alive)) return { outcome: 'tier', tier: 0, agent: 'alive' };
  if (facts.manifest.recipe === undefined) return blocked(recipeMissing(facts));
  return { outcome: 'tier', tier: 0, agent: 'ended' };
}

function stoppedTier(facts: InstanceFacts, startable: Startable, startFailure: string | null): RestoreTier {
  if (startFailure !== null) {
    const failure = classifyStartFailure(startFailure);
    if (!failure.falls_through) return blocked(startFailed(facts, startFailure, failure.hint));
    return fallThrough(facts, startFailure);
  }
  if (startable.ok) return { outcome: 'tier', tier: 1 };
  if (startable.anew === true) return blocked(sourceMissing(facts, startable.reason));
  return fallThrough(facts, startable.reason);
}

/** Past a container that cannot start: only with consent, and the old one is renamed, never removed. */
function fallThrough(facts: InstanceFacts, reason: string): RestoreTier {
  if (backendOf(facts.manifest) === 'standalone') {
    return blocked(startFailed(facts, reason, PUT_BACK));
  }
  const image = chooseImage(facts);
  if (image.outcome === 'blocked') return image;
  const { imageId, doubt } = chosen(image);
  const doubts = [`its container cannot be started (${reason})`, doubt].filter((text) => text !== null);
  return {
    outcome: 'tier',
    tier: 2,
    imageId,
    renamesOld: true,
    needsConsent: doubts.join('; '),
  };
}

function absent(facts: InstanceFacts): RestoreTier {
  const image = chooseImage(facts);
  if (image.outcome === 'blocked') return image;
  const engine =
    facts.engine_matches === 'unknown' ? 'whether its container exists on another engine is not known' : null;
  const { imageId, doubt } = chosen(image);
  const doubts = [engine, doubt].filter((text) => text !== null);
  const needsConsent = doubts.length === 0 ? null : doubts.join('; ');
  return { outcome: 'tier', tier: 2, imageId, renamesOld: false, needsConsent };
}

/** Without an id it is built. */
function chosen(image: Exclude<ReturnType<typeof chooseImage>, { outcome: 'blocked' }>) {
  return image.outcome === 'build' ? { imageId: null, doubt: null } : image;
}

function notRestorable(facts: InstanceFacts): JackinError | null {
  const { manifest, data_dir: data, container_base: base, instance_id: id } = facts;
  if (!isRestorable(manifest, { dataExists: data !== 'no' }) || data === 'no') {
    return new JackinError({
      code: 'INSTANCE_NOT_RESTORABLE',
      message: `${base} cannot be brought back: ${data === 'no' ? 'its data is gone' : `it is ${manifest.status}`}`,
      hint: `Start a new session with \`jackin load --new\`, or remove the rest with \`jackin purge ${id}\`.`,
    });
  }
  if (data === 'yes') return null;
  return new JackinError({
    code: 'STATE_NOT_READABLE',
    message: `The data directory of ${base} cannot be read`,
    hint: 'Check its owner and mode, then run the same command again.',
  });
}

function recipeMissing({ container_base: base }: InstanceFacts): JackinError {
  return new JackinError({
    code: 'RECIPE_MISSING',
    message: `${base} was made without a launch recipe, so it cannot be started again as it was`,
    hint: 'Its state is kept. Start a new session with `jackin load --new`.',
  });
}

function startFailed({ container_base: base }: InstanceFacts, reason: string, hint: string): JackinError {
  return new JackinError({
    code: 'START_FAILED',
    message: `${base} could not be started: ${reason}. Nothing was changed, its state is kept`,
    hint,
  });
}

/** A new container needs it as well: passing over would only lose what the old one holds. */
function sourceMissing(facts: InstanceFacts, reason: string): JackinError {
  if (backendOf(facts.manifest) === 'standalone') return startFailed(facts, reason, PUT_BACK);
  return new JackinError({
    code: 'MOUNT_SOURCE_MISSING',
    message: `A directory or file that ${facts.container_base} needs is missing: ${reason}. Nothing was changed, its state is kept`,
    hint: PUT_BACK,
  });
}

function blocked(error: JackinError): { outcome: 'blocked'; error: JackinError } {
  return { outcome: 'blocked', error };
}
