import type { ConfigurationResult } from './documents.ts';

type Policy = 'ask' | 'keep' | 'clean';

/** A change of a workspace as it is typed. Absent: it stays. */
export interface TypedWorkspaceChange {
  workdir?: string | undefined;
  /** `path[:ro]` or `src:dst[:ro]` */
  mounts?: readonly string[] | undefined;
  /** Destinations. */
  removeMounts?: readonly string[] | undefined;
  /** `DST=KIND` */
  mountIsolation?: readonly string[] | undefined;
  /** `NAME=MOUNT` */
  dockerMounts?: readonly string[] | undefined;
  removeDockerMounts?: readonly string[] | undefined;
  allowRoles?: readonly string[] | undefined;
  disallowRoles?: readonly string[] | undefined;
  /** In these, null takes the field out. */
  defaultRole?: string | null | undefined;
  lastRole?: null | undefined;
  defaultAgent?: string | null | undefined;
  backend?: string | null | undefined;
  exitPolicy?: Policy | null | undefined;
  dockerProfile?: string | null | undefined;
  gitPull?: boolean | undefined;
  /** `NAME=VALUE` */
  grants?: readonly string[] | undefined;
  clearGrants?: readonly string[] | undefined;
  /** `AGENT=MODE` */
  auth?: readonly string[] | undefined;
  /** `AGENT=DIR` */
  syncSourceDirs?: readonly string[] | undefined;
  /** Agents. */
  clearAuth?: readonly string[] | undefined;
}

interface DryRun {
  dryRun: boolean;
}

/** Where variables are: a workspace, or null for `config.toml`; a role's layer or every session's; those of `gh`. */
interface VariablePlace {
  workspace: string | null;
  role: string | null;
  github: boolean;
}

export interface WorkspaceVerbs {
  /** Without a mount the working directory is mounted at its own path. */
  create(request: { name: string; change: TypedWorkspaceChange } & DryRun): Promise<ConfigurationResult>;
  list(): Promise<ConfigurationResult>;
  show(request: { name: string }): Promise<ConfigurationResult>;
  edit(request: { name: string; change: TypedWorkspaceChange } & DryRun): Promise<ConfigurationResult>;
  /** Its instances come along. Said again, it brings along those that could not be. */
  rename(request: { from: string; to: string } & DryRun): Promise<ConfigurationResult>;
  /** Its instances are named and not touched. */
  remove(request: { name: string; yes: boolean } & DryRun): Promise<ConfigurationResult>;
}

export interface VariableVerbs {
  /** @param request.values `NAME=VALUE` */
  set(
    request: VariablePlace & {
      values: readonly string[];
      onDemand: boolean;
      account: string | null;
    } & DryRun,
  ): Promise<ConfigurationResult>;
  unset(request: VariablePlace & { names: readonly string[] } & DryRun): Promise<ConfigurationResult>;
  list(request: Pick<VariablePlace, 'workspace' | 'role'>): Promise<ConfigurationResult>;
}

export interface ConfigVerbs {
  show(): Promise<ConfigurationResult>;
  /** Any field, by its key; a value of another type than text is written as in the file. */
  set(request: { key: string; value: string } & DryRun): Promise<ConfigurationResult>;
  unset(request: { key: string } & DryRun): Promise<ConfigurationResult>;
  addMount(request: { name: string; mount: string } & DryRun): Promise<ConfigurationResult>;
  removeMount(request: { name: string } & DryRun): Promise<ConfigurationResult>;
  mounts(): Promise<ConfigurationResult>;
  trust(request: { role: string; trusted: boolean } & DryRun): Promise<ConfigurationResult>;
  /** `undefined` asks for it, null takes it out of the file. */
  exitPolicy(request: { value: Policy | null | undefined } & DryRun): Promise<ConfigurationResult>;
  auth(
    request: {
      agent: string;
      mode: string | null | undefined;
      syncSourceDir: string | null | undefined;
    } & DryRun,
  ): Promise<ConfigurationResult>;
}

export interface RoleVerbs {
  /** @param request.role a key, or a directory */
  validate(request: { role: string }): Promise<ConfigurationResult>;
  migrate(request: { dir: string } & DryRun): Promise<ConfigurationResult>;
  create(request: { dir: string; name: string | null }): Promise<ConfigurationResult>;
  list(): Promise<ConfigurationResult>;
}
