import type { MountSpec } from './mounts.ts';
import type { GlobalConfig } from './schema/global.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';

export interface LoadedConfig {
  config: GlobalConfig;
  /** By name. */
  workspaces: Map<string, WorkspaceConfig>;
  /** What an operator should correct, though it keeps nothing else from working. */
  problems: { file: string; reason: string }[];
}

/** What a session works on. */
export interface Target {
  /** null for an ad-hoc directory. */
  workspaceName: string | null;
  /** The workspace's name, or the directory's canonical path. */
  label: string;
  /** Where the agent starts, as the agent sees it. */
  workdir: string;
  /** The directory on this machine behind `workdir`, canonical: it identifies an ad-hoc target. */
  hostDir: string;
  /** Sources are canonical and exist. */
  mounts: MountSpec[];
  workspace: WorkspaceConfig | null;
}
