import type { CreatedRole, MigratedRole, RoleRow, Setting, SettingChange, VariableRow } from '@jackin/config';
import type { Status } from '@jackin/instance';
import type { RoleReport } from '../../docker/images/role-validate.ts';

/** An instance that was made in a workspace. */
export interface WorkspaceInstance {
  instance_id: string;
  container_base: string;
  status: Status;
}

/** Every command that changes configuration. */
export interface EditDocument {
  action: 'created' | 'changed' | 'unchanged' | 'renamed' | 'removed';
  /** `config.toml`, or `workspace NAME`. */
  subject: string;
  file: string;
  /** Nothing was written: this is what would be. */
  dry_run: boolean;
  /** Values are masked. */
  changes: SettingChange[];
  /** Those of the workspace that was renamed or removed, and what becomes of each. */
  instances: (WorkspaceInstance & { effect: string; done: boolean })[];
}

export interface ExitPolicyDocument {
  value: 'ask' | 'keep' | 'clean';
  source: 'workspace' | 'global' | 'default';
}

/** `workspace list`. */
export interface WorkspacesDocument {
  workspaces: {
    name: string;
    file: string;
    workdir: string;
    mounts: { src: string; dst: string; readonly: boolean; isolation: string }[];
    default_role: string | null;
    default_agent: string | null;
    exit_policy: ExitPolicyDocument;
    instances: number;
  }[];
}

/** `config show`, and `workspace show` with the instances. */
export interface SettingsDocument {
  subject: string;
  /** Null: there is none, and everything is a default. */
  file: string | null;
  settings: Setting[];
  exit_policy: ExitPolicyDocument;
  instances: WorkspaceInstance[] | null;
  problems: { file: string; reason: string; line: number | null }[];
}

/** `workspace env list` and `config env list`. */
export interface VariablesDocument {
  subject: string;
  variables: VariableRow[];
}

/** `config mount list`. */
export interface MountsDocument {
  mounts: { name: string; src: string; dst: string; readonly: boolean }[];
}

/** `role list`. */
export interface RolesDocument {
  roles: RoleRow[];
}

export type RoleMigrationDocument = MigratedRole & { dry_run: boolean };

/** What a command about configuration hands back. */
export type ConfigurationResult =
  | { kind: 'edit'; document: EditDocument; exitCode: 0 | 1 }
  | { kind: 'workspaces'; document: WorkspacesDocument; exitCode: 0 }
  | { kind: 'settings'; document: SettingsDocument; exitCode: 0 }
  | { kind: 'variables'; document: VariablesDocument; exitCode: 0 }
  | { kind: 'mounts'; document: MountsDocument; exitCode: 0 }
  | { kind: 'exit_policy'; document: ExitPolicyDocument; exitCode: 0 }
  | { kind: 'role_report'; document: RoleReport; exitCode: 0 | 1 }
  | { kind: 'role_migration'; document: RoleMigrationDocument; exitCode: 0 }
  | { kind: 'role_created'; document: CreatedRole; exitCode: 0 }
  | { kind: 'roles'; document: RolesDocument; exitCode: 0 }
  | { kind: 'cancelled'; document: { cancelled: true }; exitCode: 0 };
