export type { TomlEdit, TomlPath } from './document/index.ts';
export { type AuthChange, authEdits } from './edit/auth.ts';
export type { Edits } from './edit/candidate.ts';
export type { SettingChange } from './edit/differences.ts';
export { addDockerMount, removeDockerMount } from './edit/docker-mounts.ts';
export { type Edited, editConfig } from './edit/edit-config.ts';
export { field } from './edit/field.ts';
export { settingPath, settingValue } from './edit/setting.ts';
export {
  setVariables,
  typedVariable,
  unsetVariables,
  type VariableLayer,
  type VariableRow,
  variablesOf,
} from './edit/variables.ts';
export { type WorkspaceChange, workspaceEdits } from './edit/workspace-change.ts';
export { createWorkspace, editWorkspace, removeWorkspace, renameWorkspace } from './edit/workspaces.ts';
export { type EnvReference, envReferences } from './env/references.ts';
export { type EnvResolver, resolveEnv } from './env/resolve.ts';
export { exitPolicyEdit, type ResolvedExitPolicy, resolveExitPolicy } from './exit-policy.ts';
export type { EditOptions } from './files.ts';
export { loadConfig } from './load.ts';
export { type MigratedFile, migrateOperatorFiles } from './migrate/migrate-operator-files.ts';
export { type FileKind, type MigratedText, migrateText } from './migrate/migrate-text.ts';
export {
  credentialStoreOf,
  credentialStores,
  expandHome,
  isInside,
  type MountSpec,
  parseMount,
} from './mounts.ts';
export { type CreatedRole, createRole } from './roles/create.ts';
export { openRoleFiles, type RoleFiles, readRoleText } from './roles/directory.ts';
export { fromRepository, type RoleIssue, roleInvalid } from './roles/errors.ts';
export { listRoles, type RoleRow } from './roles/list.ts';
export { parseRoleManifest, ROLE_MANIFEST, type RoleManifest } from './roles/manifest.ts';
export { type MigratedRole, migrateRole } from './roles/migrate-role.ts';
export { locateRole, type RecordedRole, recordedRole } from './roles/recorded.ts';
export { cachedCheckout } from './roles/repository.ts';
export {
  peekRole,
  type ResolvedRole,
  type RoleEntry,
  type RoleOptions,
  type RoleSource,
  resolveRole,
  roleEntry,
} from './roles/resolve.ts';
export { roleUnsupported } from './roles/unsupported.ts';
export type { GlobalConfig } from './schema/global.ts';
export { type ConfiguredLimits, resolveLimits } from './schema/grants.ts';
export { memoryBytes } from './schema/memory.ts';
export type { EnvValue } from './schema/shared.ts';
export type { WorkspaceConfig } from './schema/workspace.ts';
export { type Setting, settingsOf } from './settings.ts';
export { configuredMounts, resolveTarget, type TargetInput } from './target.ts';
export type { LoadedConfig, Target } from './types.ts';
export {
  CONFIG_VERSION,
  compareVersions,
  MANIFEST_VERSION,
  parseVersion,
  type SchemaVersion,
  WORKSPACE_VERSION,
} from './version.ts';
