import type { Step, StepOp } from '../plan.ts';
import type { StepContext } from './ports.ts';

const NEEDS_BACKEND: ReadonlySet<StepOp> = new Set<StepOp>([
  'create_resources',
  'start_container',
  'start_session',
  'reconnect',
  'stop_container',
  'end_leftovers',
  'rename_container',
  'pin_image',
  'remove_container',
  'remove_sidecar',
  'remove_network',
  'remove_volume',
  'remove_keep_tag',
]);

/**
 * Whether this build can carry the step out at all. Asked of every step before the first one runs: a plan that records
 * what it will do and then cannot go on would leave an instance stuck.
 * @throws JackinError BACKEND_UNAVAILABLE
 */
export async function requireCapability(step: Step, context: StepContext): Promise<void> {
  // The getter refuses a backend that is not here.
  if (NEEDS_BACKEND.has(step.op)) void context.backend;
}
