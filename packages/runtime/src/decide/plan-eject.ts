import { JackinError } from '@jackin/core';
import type { ExitCause, Status } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import { agentInContainer, classifyExit } from './classify-exit.ts';
import { freeing } from './free-steps.ts';
import { FINAL_STATUSES, KEPT_STATUSES, keptStatus } from './instance-kind.ts';
import { agentUnknown, obstacle } from './obstacle.ts';
import { treeRecords } from './plan-keep.ts';
import { instancePlan, notLivelier, recordEnd, type StepDraft } from './plan-parts.ts';
import { type StopInput, stopSteps } from './plan-stop.ts';

/**
 * Frees the engine's resources of an instance and keeps its state; a living agent is ended, because the operator
 * named it (docs/status-and-causes.md#how-sessions-end). No steps when there is nothing to free.
 * @throws JackinError INSTANCE_PURGED, AGENT_STATE_UNKNOWN, or what {@link obstacle} finds in the way
 */
export function planEject(input: StopInput): Plan {
  const { facts } = input;
  refuse(input);
  const stop = stopSteps(input);
  const { steps, imageId, stays } = freeing(facts);
  const work = stop.length + steps.filter((step) => step.op !== 'pin_image').length;
  return instancePlan({
    plan_id: input.planId,
    kind: 'eject',
    summary: summary(facts, work, stays),
    facts,
    steps: work === 0 ? [] : [record(input, imageId), ...stop, ...steps],
  });
}

function refuse({ facts, now }: StopInput): void {
  const hindrance = obstacle(facts, now);
  if (hindrance !== null) throw hindrance;
  if (facts.manifest.status === 'purged') {
    throw new JackinError({
      code: 'INSTANCE_PURGED',
      message: `${facts.container_base} is being cleaned up, there is nothing left to keep`,
      hint: `Finish it with \`jackin purge ${facts.instance_id}\`.`,
    });
  }
  if (agentInContainer(facts) === 'unknown') throw agentUnknown(facts);
}

function record(input: StopInput, imageId: string | null): StepDraft {
  const { facts, now } = input;
  const { keep } = facts.manifest;
  const image = imageId === null ? {} : { image_id: imageId };
  const alive = facts.observation.container.state === 'running';
  const kept = alive || keep === undefined ? { intent: 'operator' as const, at: now } : keep;
  return {
    ...recordEnd({ status: ejectedStatus(facts), cause: cause(input) }),
    keep: { ...kept, ...image },
    ...treeRecords(facts),
    requires: notLivelier(facts),
  };
}

function ejectedStatus({ manifest, isolated }: InstanceFacts): Status {
  const stays = FINAL_STATUSES.has(manifest.status) || KEPT_STATUSES.has(manifest.status);
  return stays || manifest.status === 'failed_setup' ? manifest.status : keptStatus(isolated);
}

/** A running session ends by our own stop; anything else keeps the cause it has. */
function cause({ facts, now, nonce }: StopInput): ExitCause | null {
  const classification = classifyExit(facts, now);
  if (classification.outcome === 'ended') return classification.cause;
  if (classification.outcome !== 'alive') return facts.manifest.exit_cause ?? null;
  return { kind: 'jackin_stop', at: now, evidence: [`stop request: ${nonce} (eject) at ${now}`] };
}

function summary({ container_base: base }: InstanceFacts, work: number, stays: string | null): string {
  if (work === 0) return stays === null ? `Nothing of ${base} has to be freed` : `${base} stays: ${stays}`;
  return stays === null
    ? `Free what ${base} uses and keep its state`
    : `End ${base}; its container stays, because ${stays}`;
}
