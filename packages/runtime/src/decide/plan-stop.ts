import { backendOf } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import { obstacle } from './obstacle.ts';
import { instancePlan, notLivelier, type PlanInput, type StepDraft } from './plan-parts.ts';

export interface StopInput extends PlanInput {
  facts: InstanceFacts;
  /** Repeated by the exit record, so that the end is known to be ours. */
  nonce: string;
  graceMs: number;
}

/**
 * Ends what runs of an instance and decides nothing about its state: the exit flow follows on fresh facts
 * (docs/status-and-causes.md#exit-decision). No steps when nothing runs. A capsule that does not answer is stopped too: the
 * operator named it, and nothing is removed.
 * @throws JackinError what {@link obstacle} finds in the way
 */
export function planStop(input: StopInput): Plan {
  const { facts } = input;
  const hindrance = obstacle(facts, input.now);
  if (hindrance !== null) throw hindrance;
  const steps = stopSteps(input);
  return instancePlan({
    plan_id: input.planId,
    kind: 'stop',
    summary: steps.length === 0 ? `Nothing of ${facts.container_base} runs` : `Stop ${facts.container_base}`,
    facts,
    steps: steps.map((step, index) => (index === 0 ? { ...step, requires: notLivelier(facts) } : step)),
  });
}

/** Ends container, sidecar and what outlived a standalone capsule; nothing where nothing runs. */
export function stopSteps(input: StopInput): StepDraft[] {
  const { observation, manifest } = input.facts;
  const { container, sidecar, leftover_pids: leftovers } = observation;
  const running = container.state === 'running' || sidecar?.state === 'running';
  const steps: StepDraft[] = [];
  if (running) steps.push({ op: 'stop_container', nonce: input.nonce, grace_ms: input.graceMs });
  if (leftovers.length > 0 || (running && backendOf(manifest) === 'standalone')) {
    steps.push({ op: 'end_leftovers' });
  }
  return steps;
}
