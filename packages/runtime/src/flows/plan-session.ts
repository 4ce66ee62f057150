import type { Recipe } from '@jackin/instance';
import { agentInContainer } from '../decide/classify-exit.ts';
import { instancePlan, type PlanInput, type StepDraft } from '../decide/plan-parts.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Plan, SessionRequest } from '../plan.ts';

/**
 * One more session in an instance that runs: another agent, or a shell beside it. Nothing else changes; a recorded end
 * is void once an agent runs again.
 */
export function planSession(
  input: PlanInput & { facts: InstanceFacts; session: SessionRequest; recipe: Recipe },
): Plan {
  const { facts, session, recipe } = input;
  const revives: StepDraft[] =
    agentInContainer(facts) === 'alive'
      ? []
      : [{ op: 'record_status', status: 'running', exit_cause: null, keep: null, last_attach_outcome: null }];
  return instancePlan({
    plan_id: input.planId,
    kind: 'restore',
    tier: 0,
    summary: `Start another session (${session.agent}) in ${facts.container_base}`,
    facts,
    returns: [],
    steps: [
      {
        op: 'start_session',
        session,
        recipe,
        creates: [`agent session ${session.name} (${session.agent})`],
        requires: [{ fact: 'container', in: ['running'] }],
      },
      ...revives,
    ],
  });
}
