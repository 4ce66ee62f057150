import { backendOf, type ExitCause } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { Plan, Precondition, Step } from '../plan.ts';

/** Every plan's id and moment are arguments: a decision makes neither. */
export interface PlanInput {
  planId: string;
  /** RFC 3339 */
  now: string;
}

type Draft<S> = S extends Step ? Omit<S, 'id' | 'creates' | 'removes' | 'requires'> & Partial<Said> : never;
type Said = Pick<Step, 'creates' | 'removes' | 'requires'>;
export type StepDraft = Draft<Step>;

type PlanShape = Pick<Plan, 'plan_id' | 'kind' | 'summary'> & {
  facts: Pick<InstanceFacts, 'instance_id' | 'container_base' | 'manifest'>;
  steps: readonly StepDraft[];
} & Partial<Pick<Plan, 'tier' | 'returns' | 'did_not_return'>>;

/** A plan about one instance, its steps numbered in order. */
export function instancePlan(shape: PlanShape): Plan {
  const { facts } = shape;
  return {
    schema_version: 'v1',
    plan_id: shape.plan_id,
    kind: shape.kind,
    backend: backendOf(facts.manifest),
    instance_id: facts.instance_id,
    container_base: facts.container_base,
    summary: shape.summary,
    tier: shape.tier ?? null,
    returns: shape.returns ?? [],
    did_not_return: shape.did_not_return ?? [],
    steps: numbered(shape.steps),
  };
}

export function numbered(drafts: readonly StepDraft[]): Step[] {
  return drafts.map((draft, index) => {
    const id = stepId(draft.op, index);
    // A draft is its step without the fields filled in here; the compiler cannot follow that through the union.
    return { id, creates: [], removes: [], requires: [], ...draft } as Step;
  });
}

/** The steps of several plans as those of one. */
export function renumbered(steps: readonly Step[]): Step[] {
  return steps.map((step, index) => ({ ...step, id: stepId(step.op, index) }));
}

function stepId(op: Step['op'], index: number): string {
  return `${String(index + 1).padStart(2, '0')}-${op}`;
}

/** Preconditions that hold the facts of this look against the moment of execution. */
export function asSeen(facts: InstanceFacts): Precondition[] {
  const { state } = facts.observation.container;
  const status: Precondition = { fact: 'status', in: [facts.manifest.status] };
  if (state !== 'running' && state !== 'stopped' && state !== 'missing') return [status];
  return [status, { fact: 'container', in: [state] }];
}

/** Like `asSeen`, but an instance that has come to rest meanwhile is as good: a livelier one is not. */
export function notLivelier(facts: InstanceFacts): Precondition[] {
  const seen = asSeen(facts);
  if (facts.observation.container.state !== 'running') return seen;
  return seen.map((one) =>
    one.fact === 'container' ? { fact: 'container', in: ['running', 'stopped'] } : one,
  );
}

/** The container is provably not running. */
export const NOT_RUNNING: Precondition = { fact: 'container', in: ['stopped', 'missing'] };

/** A `record_status` draft of what an ending is, with the cause only where there is one. */
export function recordEnd(ended: {
  status: Extract<Step, { op: 'record_status' }>['status'];
  cause: ExitCause | null;
  last_attach_outcome?: string | null;
}): Extract<StepDraft, { op: 'record_status' }> {
  return {
    op: 'record_status',
    status: ended.status,
    ...(ended.cause === null ? {} : { exit_cause: ended.cause }),
    ...(ended.last_attach_outcome == null ? {} : { last_attach_outcome: ended.last_attach_outcome }),
  };
}
