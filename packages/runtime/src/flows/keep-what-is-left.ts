import { randomUUID } from 'node:crypto';
import { type JackinError, type Lock, toJackinError } from '@jackin/core';
import { keptStatus } from '../decide/instance-kind.ts';
import { instancePlan } from '../decide/plan-parts.ts';
import type { InstanceFacts } from '../facts.ts';
import type { StepOp } from '../plan.ts';
import type { World } from './world.ts';

/** What a clean-up left behind when a tree was in its way. */
export interface LeftOver {
  /** As it is now, recorded as kept. */
  facts: InstanceFacts;
  error: JackinError;
  /** What had been removed by then. */
  removed: string[];
}

/**
 * A clean-up whose trees could not be removed, or held other work than was agreed to, becomes a keep: the record says
 * so, and what is left can be resumed or removed later (docs/isolation.md#removal).
 * @returns null for any other failure: that one is finished by the next purge
 */
export async function keepWhatIsLeft(
  world: World,
  lock: Lock,
  base: string,
  thrown: unknown,
): Promise<LeftOver | null> {
  const error = toJackinError(thrown);
  const failed = (error.details.failed_step as { op?: StepOp } | undefined)?.op;
  if (failed !== 'remove_isolated_trees') return null;
  const now = await world.lookAt(base, undefined, 'assess');
  if (now === null) return null;
  const plan = instancePlan({
    plan_id: randomUUID(),
    kind: 'record',
    summary: `Keep what is left of ${base}: ${error.message}`,
    facts: now,
    steps: [
      {
        op: 'record_status',
        status: keptStatus(now.isolated),
        keep: { intent: 'could_not_ask', at: world.now() },
      },
    ],
  });
  await world.run(plan, lock);
  const facts = (await world.lookAt(base, undefined, 'assess')) ?? now;
  const before = error.details.removed_before;
  const removed = [...listOf(error.details.removed), ...listOf(before)];
  return { facts, error, removed };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
