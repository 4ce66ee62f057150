import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import { type Classification, classifyExit } from './classify-exit.ts';
import { explainsUntilMs } from './end-facts.ts';
import { FINAL_STATUSES } from './instance-kind.ts';
import type { Ended } from './judge-end.ts';
import { asSeen, instancePlan, type PlanInput, recordEnd, type StepDraft } from './plan-parts.ts';

export interface ReconcileInput extends PlanInput {
  facts: readonly InstanceFacts[];
  indexState: 'ok' | 'missing' | 'corrupt' | 'other_version' | 'stale';
}

/**
 * Brings records to the truth (docs/status-and-causes.md#reconcile): one plan per instance whose record differs, and one
 * that rebuilds the index when it cannot be relied on. It deletes nothing, decides no exit, and leaves alone what
 * another process works on and what could not be looked at. Nothing to do is an empty list.
 */
export function planReconcile(input: ReconcileInput): Plan[] {
  const plans = input.facts
    .map((facts) => reconcileInstance({ ...input, planId: `${input.planId}.${facts.instance_id}`, facts }))
    .filter((plan) => plan !== null);
  return input.indexState === 'ok' ? plans : [rebuildIndex(input), ...plans];
}

/** The same for one instance; null when its record is true already. */
export function reconcileInstance(input: PlanInput & { facts: InstanceFacts }): Plan | null {
  const { facts } = input;
  if (facts.lock.state !== 'free' || FINAL_STATUSES.has(facts.manifest.status)) return null;
  const step = correction(facts, classifyExit(facts, input.now), input.now);
  if (step === null) return null;
  return instancePlan({
    plan_id: input.planId,
    kind: 'reconcile',
    summary:
      step.status === facts.manifest.status
        ? `${facts.container_base}: ${step.status}, as it is seen now`
        : `${facts.container_base}: ${facts.manifest.status} becomes ${step.status}`,
    facts,
    steps: [{ ...step, requires: asSeen(facts) }],
  });
}

type Correction = Extract<StepDraft, { op: 'record_status' }>;

function correction(facts: InstanceFacts, seen: Classification, now: string): Correction | null {
  switch (seen.outcome) {
    case 'unobservable':
    case 'launching':
      return null;
    case 'alive':
      return aliveCorrection(facts, seen.agent, now);
    case 'ended':
      return endedCorrection(facts, seen);
  }
}

/**
 * A running container is recorded as such. The cause of an earlier end and a decision to keep go only when an agent
 * is alive again: a KEEP that was interrupted before it could stop the container stays a KEEP, and a setup that failed
 * stays one while nothing usable runs. A stop request the agent outlived explains no later end, so it goes too.
 */
function aliveCorrection(
  facts: InstanceFacts,
  agent: 'alive' | 'ended' | 'unknown',
  now: string,
): Correction | null {
  const { manifest } = facts;
  const seenIn = newRun(facts);
  const asked = manifest.stop_request;
  const outlived = asked !== undefined && !(Date.parse(now) <= explainsUntilMs(asked));
  const outdated = manifest.exit_cause !== undefined || manifest.keep !== undefined || outlived;
  if (agent === 'alive' && (manifest.status !== 'running' || outdated)) {
    return {
      op: 'record_status',
      status: 'running',
      exit_cause: null,
      keep: null,
      ...(outlived ? { stop_request: null } : {}),
      ...seenIn,
    };
  }
  const stays = manifest.status === 'running' || manifest.status === 'failed_setup';
  if (stays) return 'seen_in' in seenIn ? { op: 'record_status', status: manifest.status, ...seenIn } : null;
  return { op: 'record_status', status: 'running', ...seenIn };
}

/**
 * A container that lives through a restart of its engine, or was started by somebody else in a new run, belongs to
 * that run: what ends it later is compared with it.
 */
function newRun({ engine, engine_run: run, manifest }: InstanceFacts): Pick<Correction, 'seen_in'> {
  if (backendOf(manifest) !== 'docker' || engine.state !== 'reachable' || engine.run === null) return {};
  if (run === 'same') return {};
  const { endpoint, id, boot_id } = engine;
  return { seen_in: { endpoint, id, run: engine.run, boot_id } };
}

function endedCorrection({ manifest }: InstanceFacts, seen: Ended): Correction | null {
  const recorded = manifest.exit_cause;
  const sameCause =
    recorded?.kind === seen.cause?.kind && (recorded?.exit_code ?? null) === (seen.cause?.exit_code ?? null);
  const sameOutcome = (manifest.last_attach_outcome ?? null) === seen.last_attach_outcome;
  if (manifest.status === seen.status && sameCause && sameOutcome) return null;
  const forgotten = seen.cause === null && recorded !== undefined;
  return { ...recordEnd(seen), ...(forgotten ? { exit_cause: null } : {}) };
}

function rebuildIndex(input: ReconcileInput): Plan {
  return {
    schema_version: 'v1',
    plan_id: `${input.planId}.index`,
    kind: 'reconcile',
    backend: 'standalone',
    instance_id: null,
    container_base: null,
    summary: `Rebuild the index from the manifests: it is ${input.indexState}`,
    tier: null,
    returns: [],
    did_not_return: [],
    steps: [{ id: '01-rebuild_index', op: 'rebuild_index', creates: [], removes: [], requires: [] }],
  };
}
