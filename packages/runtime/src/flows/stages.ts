import type { Clock, EventSink } from '@jackin/core';
import type { Plan, StepOp } from '../plan.ts';

/** The steps an operator waits for, in words. The others are too short to be told. */
const STAGES: Partial<Record<StepOp, string>> = {
  materialise_trees: 'trees',
  create_resources: 'resources',
  start_container: 'capsule',
  check_trees: 'git in it',
  start_session: 'agent',
  stop_container: 'stop',
  remove_isolated_trees: 'remove trees',
  remove_data_dir: 'remove state',
};

/** Passes every event on and adds a stage for each step worth waiting for. */
export function withStages(plan: Plan, events: EventSink, clock: Clock): EventSink {
  let startedMs = clock.monotonicMs();
  const told = (op: string) =>
    // A process needs no image, network or container.
    op === 'create_resources' && plan.backend === 'standalone' ? undefined : STAGES[op as StepOp];
  return (event) => {
    events(event);
    if (event.type !== 'step' || event.plan_id !== plan.plan_id) return;
    const stage = told(event.op);
    if (stage === undefined || event.state === 'skipped') return;
    if (event.state === 'started') {
      startedMs = clock.monotonicMs();
      events({ type: 'stage', stage, state: 'started' });
      return;
    }
    const elapsed = Math.round(clock.monotonicMs() - startedMs);
    const detail = event.detail === undefined ? {} : { detail: event.detail };
    events({ type: 'stage', stage, state: event.state, elapsed_ms: elapsed, ...detail });
  };
}
