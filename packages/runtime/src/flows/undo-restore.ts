import type { JackinError } from '@jackin/core';
import { instancePlan, NOT_RUNNING, type PlanInput, type StepDraft } from '../decide/plan-parts.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Plan, StepOp } from '../plan.ts';

export interface RestoreFailureInput extends PlanInput {
  /** The look that justified the restore. */
  before: InstanceFacts;
  /** The restore plan, and the error its execution ended with. */
  plan: Plan;
  error: JackinError;
  nonce: string;
  graceMs: number;
}

/**
 * What a failed restore leaves behind: the record as it was, nothing running that did not run before, the container
 * it had, and nothing removed but a new one that never held a session. Null when there is nothing to put back: no step was done, or the agent runs already.
 */
export function planRestoreFailure(input: RestoreFailureInput): Plan | null {
  const { before, plan } = input;
  const { done, failed } = progress(input.error);
  if (failed === null || done.includes('start_session')) return null;
  const attempted = (op: StepOp): boolean => failed === op || done.includes(op);
  if (!done.includes('record_status')) return null;
  const ran = before.observation.container.state === 'running';
  const stop: StepDraft[] =
    !ran && attempted('start_container')
      ? [
          { op: 'stop_container', nonce: input.nonce, grace_ms: input.graceMs },
          { op: 'end_leftovers' },
          // Our stop belongs to the failed start: it says nothing about how the session ended.
          asBefore(before),
        ]
      : [];
  // The new container never held a session, and the old one is the way back it was.
  const base = before.container_base;
  const back: StepDraft[] = done.includes('rename_container')
    ? [
        ...(attempted('create_resources')
          ? [{ op: 'remove_container' as const, removes: [`new container ${base}`], requires: [NOT_RUNNING] }]
          : []),
        { op: 'rename_container', to: base },
      ]
    : [];
  return instancePlan({
    plan_id: input.planId,
    kind: 'record',
    summary: `Put ${plan.container_base} back to ${before.manifest.status}: its restore failed`,
    facts: before,
    steps: [asBefore(before), ...stop, ...back],
  });
}

function asBefore({ manifest }: InstanceFacts): StepDraft {
  return {
    op: 'record_status',
    status: manifest.status,
    exit_cause: manifest.exit_cause ?? null,
    keep: manifest.keep ?? null,
    last_attach_outcome: manifest.last_attach_outcome ?? null,
    stop_request: manifest.stop_request ?? null,
  };
}

function progress(error: JackinError): { done: StepOp[]; failed: StepOp | null } {
  const steps = error.details.done_steps as { op: StepOp; state: string }[] | undefined;
  const failed = error.details.failed_step as { op: StepOp } | undefined;
  return { done: (steps ?? []).map(({ op }) => op), failed: failed?.op ?? null };
}
