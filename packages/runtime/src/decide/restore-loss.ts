import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { DidNotReturn } from '../plan.ts';
import { lastHeartbeat, readRecord } from './end-facts.ts';
import { neverHadImage } from './restore-image.ts';
import type { RestoreTier } from './restore-tier.ts';

/**
 * What a tier cannot bring back, computed and not assumed (docs/status-and-causes.md#ladder): live processes only when
 * something was alive, the writable layer only when it was not empty, the sidecar's images only with a sidecar.
 */
export function whatIsLost(
  facts: InstanceFacts,
  tier: Exclude<RestoreTier, { outcome: 'blocked' }>,
  changedPaths: readonly string[] | null,
): DidNotReturn[] {
  if (tier.tier === 0) return tier.agent === 'alive' ? [] : ['agent_process'];
  const lost: DidNotReturn[] = [];
  if (somethingWasAlive(facts)) lost.push('live_processes');
  if (tier.tier === 2 && !layerWasEmpty(facts, changedPaths)) lost.push('writable_layer');
  if (sidecarIsLost(facts)) lost.push('sidecar_images');
  return lost;
}

/** As its container says, or as it was when we removed that. */
function layerWasEmpty(
  { manifest, observation }: InstanceFacts,
  changedPaths: readonly string[] | null,
): boolean {
  if (changedPaths !== null) return changedPaths.length === 0;
  if (neverHadImage(manifest)) return true;
  return observation.container.state === 'missing' && manifest.removed_layer?.changed_paths === 0;
}

/** What a tier does bring back, of what this instance has. Words of their own: `home`, `working_tree`. */
export function whatReturns(
  facts: InstanceFacts,
  tier: Exclude<RestoreTier, { outcome: 'blocked' }>,
  lost: readonly DidNotReturn[],
): string[] {
  const back = ['home', 'working_tree'];
  if (tier.tier === 0) back.push('live_processes');
  if (tier.tier === 0 && tier.agent === 'alive') back.push('agent_process');
  if (backendOf(facts.manifest) === 'standalone') return back;
  if (tier.tier !== 2) back.push('writable_layer');
  if (hasSidecar(facts) && !lost.includes('sidecar_images')) back.push('sidecar_images');
  return back;
}

/** By the exit record, the last heartbeat, then the recorded sessions. What cannot be read counts as alive. */
function somethingWasAlive(facts: InstanceFacts): boolean {
  if (facts.observation.leftover_pids.length > 0) return true;
  const reading = readRecord(facts);
  if (reading.state === 'ours' && reading.record.ended_by === 'agent') return false;
  // The capsule ended what ran before it went itself, so its last heartbeat tells of the time after that.
  if (reading.state === 'ours' && reading.record.ended_by === 'signal') return hadSessions(facts);
  if (facts.state_files.heartbeat.state === 'unreadable') return true;
  const beat = lastHeartbeat(facts);
  if (beat !== null) return beat.sessions.some((session) => session.alive);
  return hadSessions(facts);
}

function hadSessions({ manifest }: InstanceFacts): boolean {
  return manifest.sessions.some((session) => session.status === 'running');
}

function sidecarIsLost(facts: InstanceFacts): boolean {
  if (!hasSidecar(facts)) return false;
  const { sidecar } = facts.observation;
  return sidecar === null || sidecar.state === 'missing';
}

function hasSidecar({ manifest }: InstanceFacts): boolean {
  return (manifest.recipe?.run.sidecar ?? null) !== null && backendOf(manifest) === 'docker';
}
