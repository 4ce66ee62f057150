import type { GlobalConfig } from './schema/global.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';

export interface ResolvedExitPolicy {
  value: 'ask' | 'keep' | 'clean';
  source: 'flag' | 'workspace' | 'global' | 'default';
}

/**
 * What happens when a session ends (docs/configuration.md#exit-policy): the flag of this one command, then the
 * workspace, then the global setting, then `ask`. The only place that reads `dirty_exit_policy`.
 */
export function resolveExitPolicy(input: {
  flag: 'keep' | 'clean' | null;
  workspace: Pick<WorkspaceConfig, 'dirty_exit_policy'> | null;
  global: Pick<GlobalConfig, 'dirty_exit_policy'>;
}): ResolvedExitPolicy {
  if (input.flag !== null) return { value: input.flag, source: 'flag' };
  const workspace = input.workspace?.dirty_exit_policy;
  if (workspace !== undefined) return { value: current(workspace), source: 'workspace' };
  const global = input.global.dirty_exit_policy;
  if (global !== undefined) return { value: current(global), source: 'global' };
  return { value: 'ask', source: 'default' };
}

function current(value: 'ask' | 'keep' | 'clean' | 'discard'): ResolvedExitPolicy['value'] {
  return value === 'discard' ? 'clean' : value;
}
