import { JackinError } from '@jackin/core';
import type { Status } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import { agentInContainer } from './classify-exit.ts';
import { freeing } from './free-steps.ts';
import { keptTrees } from './instance-kind.ts';
import type { Ended } from './judge-end.ts';
import { agentUnknown, obstacle } from './obstacle.ts';
import { instancePlan, notLivelier, recordEnd } from './plan-parts.ts';
import { type StopInput, stopSteps } from './plan-stop.ts';

export interface KeepInput extends StopInput {
  classification: Ended;
  intent: 'operator' | 'policy' | 'could_not_ask';
  /** Of the decision: `preserved_dirty`, `preserved_unpushed` or `restore_available`. */
  status: Status;
}

/**
 * KEEP: the decision is recorded first, then the engine's resources are freed; data, socket directory, lock and row
 * stay (docs/status-and-causes.md#keep).
 * @throws JackinError AGENT_ALIVE, AGENT_STATE_UNKNOWN, or what {@link obstacle} finds in the way
 */
export function planKeep(input: KeepInput): Plan {
  const { facts, classification, status, intent } = input;
  const hindrance = obstacle(facts, input.now);
  if (hindrance !== null) throw hindrance;
  refuseLivingAgent(input);
  const { steps, imageId, stays } = freeing(facts);
  const keep = { intent, at: input.now, ...(imageId === null ? {} : { image_id: imageId }) };
  return instancePlan({
    plan_id: input.planId,
    kind: 'keep',
    summary:
      stays === null
        ? `Keep ${facts.container_base}: home, conversation and trees stay, what runs is ended and freed`
        : `Keep ${facts.container_base} with its container, because ${stays}`,
    facts,
    steps: [
      {
        ...recordEnd({ ...classification, status }),
        keep,
        ...treeRecords(facts),
        requires: [...notLivelier(facts), { fact: 'no_agent_alive' }],
      },
      ...stopSteps(input),
      ...steps,
    ],
  });
}

/** Only where there are any. */
export function treeRecords({ isolated }: Pick<InstanceFacts, 'isolated'>): {
  trees?: ReturnType<typeof keptTrees>;
} {
  const trees = keptTrees(isolated);
  return Object.keys(trees).length === 0 ? {} : { trees };
}

/** An exit flow never ends an agent: it follows one that has ended. */
export function refuseLivingAgent({ facts }: StopInput): void {
  const agent = agentInContainer(facts);
  if (agent === 'unknown') throw agentUnknown(facts);
  if (agent === 'ended') return;
  throw new JackinError({
    code: 'AGENT_ALIVE',
    message: `An agent is alive in ${facts.container_base}`,
    hint: `Run \`jackin stop ${facts.instance_id}\` first, then the same command again.`,
  });
}
