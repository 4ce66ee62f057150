export { type EnvReference, envReferences } from './env/references.ts';
export { type EnvResolver, resolveEnv } from './env/resolve.ts';
export { type ResolvedExitPolicy, resolveExitPolicy } from './exit-policy.ts';
export { loadConfig } from './load.ts';
export { credentialStoreOf, type MountSpec, parseMount } from './mounts.ts';
export type { GlobalConfig } from './schema/global.ts';
export type { EnvValue } from './schema/shared.ts';
export type { WorkspaceConfig } from './schema/workspace.ts';
export { resolveTarget, type TargetInput } from './target.ts';
export type { LoadedConfig, Target } from './types.ts';
export {
  CONFIG_VERSION,
  compareVersions,
  parseVersion,
  type SchemaVersion,
  WORKSPACE_VERSION,
} from './version.ts';
