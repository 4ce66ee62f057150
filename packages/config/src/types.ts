import type { ConfigSource } from './errors.ts';
import type { MountSpec } from './mounts.ts';
import type { GlobalConfig } from './schema/global.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';

export interface LoadedConfig {
  config: GlobalConfig;
  /** By name. */
  workspaces: Map<string, WorkspaceConfig>;
  /** What an operator should correct, though it keeps nothing else from working. */
  problems: { file: string; reason: string; key?: string; line?: number | null }[];
  /** Where it was read from, for errors about a value; null when there is no config.toml. */
  sources?: { config: ConfigSource | null; workspaces: ReadonlyMap<string, ConfigSource> };
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
