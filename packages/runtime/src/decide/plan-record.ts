import type { ExitCause, Status } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { Ended } from './judge-end.ts';
import { instancePlan, type PlanInput, recordEnd } from './plan-parts.ts';

/**
 * Records how a session ended and touches nothing else (docs/status-and-causes.md#exit-decision).
 * Holds for every end that was not clean.
 */
export function planRecord(
  input: PlanInput & {
    facts: InstanceFacts;
    status: Status;
    cause: ExitCause | null;
    lastAttachOutcome?: string | null;
  },
): Plan {
  const { facts, status, cause } = input;
  const record = recordEnd({ status, cause, last_attach_outcome: input.lastAttachOutcome ?? null });
  const why = cause === null ? '' : ` (${cause.kind})`;
  return instancePlan({
    plan_id: input.planId,
    kind: 'record',
    summary: `Record ${facts.container_base} as ${status}${why}; everything is kept`,
    facts,
    steps: [{ ...record, requires: [{ fact: 'status', in: [facts.manifest.status] }] }],
  });
}

/** The manifest does not say yet how this session ended. */
export function recordNeeded({ manifest }: InstanceFacts, { status, cause }: Ended): boolean {
  return manifest.status !== status || manifest.exit_cause?.kind !== cause?.kind;
}
