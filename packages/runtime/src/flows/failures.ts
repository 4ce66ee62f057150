import { toJackinError } from '@jackin/core';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { FlowResult, ResumeAllDocument } from './api.ts';

export type Failure = ResumeAllDocument['failed'][number];

/** What went wrong with one of several instances, as the documents carry it. */
export function failureOf(
  { instance_id, container_base }: Pick<InstanceFacts, 'instance_id' | 'container_base'>,
  thrown: unknown,
): Failure {
  const { code, message, hint } = toJackinError(thrown);
  return { instance_id, container_base, error: { code, message, hint: hint ?? null } };
}

/** One plan per instance; an instance that cannot be planned for does not hide the others. */
export async function planEach(
  instances: readonly InstanceFacts[],
  plan: (facts: InstanceFacts) => Plan | Promise<Plan>,
): Promise<{ plans: Plan[]; failed: Failure[] }> {
  const plans: Plan[] = [];
  const failed: Failure[] = [];
  for (const facts of instances) {
    try {
      plans.push(await plan(facts));
    } catch (thrown) {
      failed.push(failureOf(facts, thrown));
    }
  }
  return { plans, failed };
}

/** The dry run of a verb over several instances. */
export async function plansResult(
  ...[instances, plan]: Parameters<typeof planEach>
): Promise<Extract<FlowResult, { kind: 'plans' }>> {
  const document = await planEach(instances, plan);
  return { kind: 'plans', document, exitCode: document.failed.length === 0 ? 0 : 1 };
}
