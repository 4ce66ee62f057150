import type { TomlEdit } from './document/index.ts';
import type { GlobalConfig } from './schema/global.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';

export interface ResolvedExitPolicy {
  value: 'ask' | 'keep' | 'clean';
  source: 'flag' | 'workspace' | 'workspace_missing' | 'global' | 'default';
}

/**
 * What happens when a session ends (docs/configuration.md#exit-policy): the flag of this one command, then the
 * workspace, then the global setting, then `ask`; `keep` when the workspace is gone. The only place that reads `dirty_exit_policy`.
 */
export function resolveExitPolicy(input: {
  flag: 'keep' | 'clean' | null;
  /** `missing`: the session belongs to a workspace that is not in the configuration any more. */
  workspace: Pick<WorkspaceConfig, 'dirty_exit_policy'> | 'missing' | null;
  global: Pick<GlobalConfig, 'dirty_exit_policy'>;
}): ResolvedExitPolicy {
  if (input.flag !== null) return { value: input.flag, source: 'flag' };
  // It may have said `keep`: nothing is cleaned on the word of another setting.
  if (input.workspace === 'missing') return { value: 'keep', source: 'workspace_missing' };
  const workspace = input.workspace?.dirty_exit_policy;
  if (workspace !== undefined) return { value: workspace, source: 'workspace' };
  const global = input.global.dirty_exit_policy;
  if (global !== undefined) return { value: global, source: 'global' };
  return { value: 'ask', source: 'default' };
}

/**
 * The edit of `config.toml` or of a workspace's file that sets the exit policy, or with null takes it out again, so that
 * nobody else has to know the key.
 */
export function exitPolicyEdit(value: ResolvedExitPolicy['value'] | null): TomlEdit {
  const path = ['dirty_exit_policy'];
  return value === null ? { path, remove: true } : { path, set: value };
}
