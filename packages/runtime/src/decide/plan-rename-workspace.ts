import type { Manifest } from '@jackin/instance';
import type { Plan } from '../plan.ts';
import { instancePlan } from './plan-parts.ts';

/**
 * Brings one instance along when its workspace gets another name (docs/configuration.md#renaming-a-workspace): by that
 * name `load` finds it and the exit policy applies to it. Everything else of it stays.
 */
export function planRenameWorkspace(input: {
  planId: string;
  manifest: Manifest;
  from: string;
  to: string;
}): Plan {
  const { manifest, from, to } = input;
  const { instance_id, container_base } = manifest;
  return instancePlan({
    plan_id: input.planId,
    kind: 'record',
    summary: `Record that the workspace ${from} of ${container_base} is called ${to}`,
    facts: { instance_id, container_base, manifest },
    steps: [{ op: 'record_workspace', name: to, from }],
  });
}
