import { JackinError, redact, toJackinError } from '@jackin/core';
import { type Plan, planSchema, type Step } from '../plan.ts';
import { requireCapability } from './capability.ts';
import { checkPreconditions, createStepContext, type RunContext } from './context.ts';
import { handlers } from './handlers.ts';
import type { ExecutionReceipt, ExecutorPorts, Handler, StepContext, StepOutcome } from './ports.ts';

/**
 * Runs the steps of a plan in order and nothing else: the plan may come from a decision or from the parsed JSON of a
 * `--dry-run` (docs/architecture.md, observe → decide → act). Every step is idempotent, so the same command converges
 * after a kill between any two of them. Nothing begins unless this build can carry out all of the steps; before each
 * one the lock is still held and the step's preconditions hold on fresh facts; around each step an event is emitted
 * synchronously, which is the step journal.
 *
 * Throws PLAN_INVALID; BACKEND_UNAVAILABLE before the first step; LOCK_LOST, STATE_CHANGED
 * (naming fact and value), or the failed step's error; `details` say which step it was and what was done before it.
 * Nothing after that step runs.
 */
export async function execute(plan: Plan, ports: ExecutorPorts): Promise<ExecutionReceipt> {
  const checked = parsePlan(plan);
  const receipt: ExecutionReceipt = {
    plan_id: checked.plan_id,
    kind: checked.kind,
    instance_id: checked.instance_id,
    container_base: checked.container_base,
    steps: [],
    created: [],
    removed: [],
    session: null,
  };
  const run = createStepContext(checked, ports);
  planEvent(ports, checked, 'started');
  await everyStep(requireCapability);
  await everyStep(runStep);
  planEvent(ports, checked, 'done');
  return receipt;

  async function everyStep(act: typeof runStep): Promise<void> {
    for (const step of checked.steps) {
      try {
        await act(step, run, receipt);
      } catch (thrown) {
        planEvent(ports, checked, 'failed');
        throw withProgress(thrown, checked, step, receipt);
      }
    }
  }
}

async function runStep(step: Step, context: RunContext, receipt: ExecutionReceipt): Promise<void> {
  const { ports, plan } = context;
  const emit = (state: 'started' | 'done' | 'skipped' | 'failed', detail?: string): void =>
    ports.events({
      type: 'step',
      plan_id: plan.plan_id,
      step_id: step.id,
      op: step.op,
      state,
      ...(detail === undefined ? {} : { detail: redact(detail) }),
    });
  emit('started');
  let outcome: StepOutcome;
  try {
    ports.signal?.throwIfAborted();
    context.assertLock();
    await checkPreconditions(step, context);
    outcome = await dispatch(step, context);
  } catch (thrown) {
    emit('failed', toJackinError(thrown).message);
    throw thrown;
  }
  note(step, outcome, receipt);
  emit(outcome.state, outcome.detail);
}

function dispatch(step: Step, context: StepContext): Promise<StepOutcome> {
  // The table is exhaustive by its type; one cast joins the step to the handler of its own op.
  const handler = handlers[step.op] as Handler<Step['op']>;
  return handler(step, context);
}

function note(step: Step, outcome: StepOutcome, receipt: ExecutionReceipt): void {
  const done = outcome.state === 'done';
  receipt.steps.push({ id: step.id, op: step.op, state: outcome.state, detail: outcome.detail ?? null });
  receipt.created.push(...(outcome.created ?? (done ? step.creates : [])));
  receipt.removed.push(...(outcome.removed ?? (done ? step.removes : [])));
  if (outcome.session) receipt.session = outcome.session;
}

function parsePlan(plan: unknown): Plan {
  const parsed = planSchema.safeParse(plan);
  if (!parsed.success) throw invalidPlan(parsed.error.issues[0]?.message ?? 'it has another shape');
  const { container_base: base, instance_id: id, steps } = parsed.data;
  if (base !== null && !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(base)) {
    throw invalidPlan(`container_base ${JSON.stringify(base)} is not a name`);
  }
  const needsInstance = steps.find((step) => step.op !== 'rebuild_index');
  if (needsInstance && (base === null || id === null)) {
    throw invalidPlan(`step ${needsInstance.id} (${needsInstance.op}) names no instance`);
  }
  for (const step of steps) {
    if (step.op !== 'create_instance') continue;
    if (step.manifest.container_base !== base || step.manifest.instance_id !== id) {
      throw invalidPlan(`step ${step.id} creates ${step.manifest.container_base}, not ${base}`);
    }
  }
  return parsed.data;
}

function invalidPlan(reason: string): JackinError {
  return new JackinError({
    code: 'PLAN_INVALID',
    message: `The plan cannot be executed: ${reason}`,
    hint: 'Make a new plan with `--dry-run` and use it unchanged.',
  });
}

function planEvent(ports: ExecutorPorts, plan: Plan, state: 'started' | 'done' | 'failed'): void {
  ports.events({
    type: 'plan',
    plan_id: plan.plan_id,
    kind: plan.kind,
    container_base: plan.container_base,
    state,
    steps: plan.steps.length,
  });
}

/** The step's own error, with what was done so far: the caller rolls back exactly that. */
function withProgress(thrown: unknown, plan: Plan, step: Step, receipt: ExecutionReceipt): JackinError {
  const error = toJackinError(thrown);
  return new JackinError({
    code: error.code,
    message: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: {
      ...error.details,
      plan_id: plan.plan_id,
      failed_step: { id: step.id, op: step.op },
      done_steps: receipt.steps,
      removed: receipt.removed,
    },
    cause: error.cause ?? error,
    exitCode: error.exitCode,
  });
}
