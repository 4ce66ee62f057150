import { isRestorable } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { CandidateRow } from '../prompts.ts';
import { type Classification, classifyExit } from './classify-exit.ts';
import { causeInWords, describeInstance } from './describe.ts';
import { type RestoreTier, restoreTier } from './restore-tier.ts';

/** What a launch asks for. An ad-hoc directory is its own workspace, told by its fingerprint. */
export interface LaunchTarget {
  workspaceName: string | null;
  hostWorkdirFingerprint: string;
  roleKey: string;
  agent: string;
}

/**
 * The instances a launch of `target` could resume, newest first, running ones included
 * (docs/status-and-causes.md#restorable). What cannot be resumed right now is listed with the reason.
 * @param now RFC 3339
 */
export function candidatesFor(
  target: LaunchTarget,
  facts: readonly InstanceFacts[],
  now: string,
): CandidateRow[] {
  return newestFirst(
    facts.filter((one) => isFor(target, one) && isCandidate(one)),
    now,
  ).map((one) => candidateRow(one, now));
}

/** One instance as a row of a list. */
export function candidateRow(facts: InstanceFacts, now: string): CandidateRow {
  const seen = classifyExit(facts, now);
  const description = describeInstance(facts, now);
  return {
    instance_id: facts.instance_id,
    container_base: facts.container_base,
    age: ageInWords(description.since, now),
    what: whatHappened(facts, seen),
    readiness: readiness(facts, seen, restoreTier(facts, now)),
    exit_pending: description.exit_pending,
  };
}

/** The instances the last loss of host or engine interrupted: what `resume --all` brings back. */
export function interruptedByHostLoss(facts: readonly InstanceFacts[], now: string): InstanceFacts[] {
  return newestFirst(
    facts.filter((one) => describeInstance(one, now).status === 'host_lost'),
    now,
  );
}

/** `just now`, `5m ago`, `2h ago`, `3d ago`; a time that cannot be read is `at an unknown time`. */
export function ageInWords(since: string, now: string): string {
  const ms = Date.parse(now) - Date.parse(since);
  if (Number.isNaN(ms)) return 'at an unknown time';
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ago` : `${Math.floor(hours / 24)}d ago`;
}

function isFor(target: LaunchTarget, { manifest }: InstanceFacts): boolean {
  const sameWorkspace =
    target.workspaceName === null
      ? manifest.workspace_name === null &&
        manifest.host_workdir_fingerprint === target.hostWorkdirFingerprint
      : manifest.workspace_name === target.workspaceName;
  return sameWorkspace && manifest.role_key === target.roleKey && manifest.agent_runtime === target.agent;
}

function isCandidate({ manifest, data_dir: data }: InstanceFacts): boolean {
  return isRestorable(manifest, { dataExists: data !== 'no' }) && data !== 'no';
}

function newestFirst(facts: readonly InstanceFacts[], now: string): InstanceFacts[] {
  const since = new Map(facts.map((one) => [one, Date.parse(describeInstance(one, now).since) || 0]));
  return [...facts].sort(
    (a, b) =>
      (since.get(b) ?? 0) - (since.get(a) ?? 0) || b.manifest.created_at.localeCompare(a.manifest.created_at),
  );
}

function whatHappened(facts: InstanceFacts, seen: Classification): string {
  const { manifest } = facts;
  switch (seen.outcome) {
    case 'launching':
      return `in use: ${seen.owner.purpose}`;
    case 'alive':
      if (seen.agent === 'alive') return 'running';
      return seen.agent === 'ended' ? 'running, agent ended' : 'running, agent not known';
    case 'unobservable':
      return recordedWords(facts);
    case 'ended': {
      const code = seen.cause?.exit_code;
      if (seen.exit_flow) return 'ended, not finished';
      if (seen.status === 'preserved_dirty') return 'kept, uncommitted work';
      if (seen.status === 'preserved_unpushed') return 'kept, unpushed work';
      if (seen.status === 'restore_available')
        return manifest.keep === undefined ? 'container gone' : 'kept, clean';
      return seen.cause === null ? seen.status : causeInWords(seen.cause.kind, code);
    }
  }
}

function recordedWords({ manifest }: InstanceFacts): string {
  const { exit_cause: cause, status } = manifest;
  return cause === undefined ? status : causeInWords(cause.kind, cause.exit_code);
}

const BLOCKED_WORDS: Readonly<Record<string, string>> = {
  ENGINE_UNREACHABLE: 'engine unreachable',
  OTHER_ENGINE: 'other engine',
  FOREIGN_CONTAINER: 'name taken by a foreign container',
  INSTANCE_UNOBSERVABLE: 'cannot be observed',
  INSTANCE_BUSY: 'in use by another command',
  CAPSULE_SILENT: 'capsule does not answer',
  IMAGE_GONE: 'image gone',
  IMAGE_NOT_OBSERVABLE: 'image cannot be observed',
  RECIPE_MISSING: 'no launch recipe',
  START_FAILED: 'cannot be started',
  STATE_NOT_READABLE: 'state not readable',
};

function readiness(facts: InstanceFacts, seen: Classification, tier: RestoreTier): string {
  if (seen.outcome === 'launching' && facts.manifest.status === 'active') return 'starting';
  if (tier.outcome === 'blocked') return BLOCKED_WORDS[tier.error.code] ?? 'not ready';
  return tier.tier === 2 && tier.needsConsent !== null ? 'ready with losses' : 'ready';
}
