import { backendOf, type ExitCause, type Manifest } from '@jackin/instance';
import type { Plan, StepOp } from '../plan.ts';
import { printable } from './evidence.ts';
import { stateSteps } from './plan-clean.ts';
import { instancePlan, NOT_RUNNING, type PlanInput, type StepDraft } from './plan-parts.ts';

const LOG_TAIL_LINES = 20;

export interface LaunchFailureInput extends PlanInput {
  /** The manifest of the launch plan. */
  manifest: Manifest;
  /** Operations of the launch plan that were done, and the one that failed. */
  done: readonly StepOp[];
  failed: StepOp;
  error: { code: string; message: string };
  /** The last lines the failed stage printed, oldest first. */
  logTail: readonly string[];
  nonce: string;
  graceMs: number;
  /** The trees of the launch plan: those made before one failed go with it. */
  trees?: readonly { mount_dst: string; path: string }[];
  /** Something of a tree that could not be made is still there. */
  leftBehind?: boolean;
}

export type LaunchFailure =
  /** No state exists yet: there is nothing to record and nothing to roll back. */
  | { outcome: 'no_trace' }
  /** A session is usable: whatever failed afterwards, an attach above all, is no setup failure. */
  | { outcome: 'not_a_setup_failure' }
  /** Its trees could not be made and nothing of them is left: the instance goes again, as if it had never been. */
  | { outcome: 'taken_back'; plan: Plan }
  | { outcome: 'plan'; plan: Plan; cause: ExitCause };

/**
 * What a failed launch leaves behind (docs/status-and-causes.md#launch): `failed_setup` with the step and its log
 * tail, and the engine resources this launch made are taken away again. Home and settings stay.
 */
export function planLaunchFailure(input: LaunchFailureInput): LaunchFailure {
  const { done, failed, manifest } = input;
  if (done.includes('start_session')) return { outcome: 'not_a_setup_failure' };
  if (!done.includes('create_instance')) return { outcome: 'no_trace' };
  if (failed === 'materialise_trees' && input.leftBehind !== true) return takenBack(input);
  const cause = setupFailure(input);
  const plan = instancePlan({
    plan_id: input.planId,
    kind: 'record',
    summary: `Record ${manifest.container_base} as failed_setup (${failed}) and undo what this launch made`,
    facts: { instance_id: manifest.instance_id, container_base: manifest.container_base, manifest },
    steps: [{ op: 'record_status', status: 'failed_setup', exit_cause: cause }, ...rollback(input)],
  });
  return { outcome: 'plan', plan, cause };
}

function takenBack({ planId, manifest, trees = [] }: LaunchFailureInput): LaunchFailure {
  const { instance_id, container_base } = manifest;
  const plan = instancePlan({
    plan_id: planId,
    kind: 'record',
    summary: `Take back ${container_base}, whose trees could not be made`,
    facts: { instance_id, container_base, manifest },
    steps: [
      { op: 'record_status', status: 'purged' },
      // No agent has worked in any of them.
      { op: 'remove_isolated_trees', mounts: trees.map((tree) => ({ ...tree, branch_commit: null })) },
      ...stateSteps(container_base),
    ],
  });
  return { outcome: 'taken_back', plan };
}

function setupFailure({ failed, error, logTail, now }: LaunchFailureInput): ExitCause {
  return {
    kind: 'setup_failed',
    exit_code: null,
    at: now,
    evidence: [
      `step ${failed} failed: ${error.code}: ${error.message}`,
      ...logTail.slice(-LOG_TAIL_LINES).map((line) => `log: ${printable(line)}`),
    ],
  };
}

/** Only what this launch attempted; the name was free when it began, so what carries it now is its own. */
function rollback(input: LaunchFailureInput): StepDraft[] {
  const { manifest, done, failed, nonce, graceMs } = input;
  const attempted = (op: StepOp): boolean => failed === op || done.includes(op);
  const standalone = backendOf(manifest) === 'standalone';
  const { docker, container_base: base } = manifest;
  const steps: StepDraft[] = [];
  if (attempted('start_container')) steps.push({ op: 'stop_container', nonce, grace_ms: graceMs });
  if (attempted('start_container') && standalone) steps.push({ op: 'end_leftovers' });
  if (!attempted('create_resources')) return steps;
  steps.push({ op: 'remove_container', removes: [`container ${base}`], requires: [NOT_RUNNING] });
  if (standalone) return steps;
  if (docker.dind_container != null) {
    steps.push({
      op: 'remove_sidecar',
      removes: [`sidecar ${docker.dind_container}`],
      requires: [NOT_RUNNING],
    });
  }
  if (docker.certs_volume != null) {
    steps.push({ op: 'remove_volume', removes: [`volume ${docker.certs_volume}`], requires: [NOT_RUNNING] });
  }
  steps.push({ op: 'remove_network', removes: [`network ${docker.network}`], requires: [NOT_RUNNING] });
  return steps;
}
