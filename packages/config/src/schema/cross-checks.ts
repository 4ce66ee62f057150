import { JackinError } from '@jackin/core';
import { reservedNames } from '../env/references.ts';
import type { FieldIssue } from '../errors.ts';
import { absoluteFix, isRooted, mountIssues, notAbsolute, samePlace } from '../mounts.ts';
import { gitSource } from '../roles/git-source.ts';
import type { GlobalConfig } from './global.ts';
import { unenforcedGrants } from './grants.ts';
import { agentAuthTables, type DockerConfig } from './shared.ts';
import type { WorkspaceConfig } from './workspace.ts';

/** What no schema of one field can see, apart from mounts and reserved names, which have an error of their own. */
export interface CrossChecks {
  issues: FieldIssue[];
  reserved: FieldIssue[];
  /** Wrong only where a session would need it. */
  unenforced: FieldIssue[];
}

/** The rules between the fields of `config.toml` (docs/configuration.md#config-toml). */
export function checkGlobal(config: GlobalConfig): CrossChecks {
  const roles = Object.entries(config.roles).flatMap(([key, role]): FieldIssue[] => {
    const path = ['roles', key];
    return [
      ...(role.git !== undefined && role.path !== undefined
        ? [{ path, reason: 'has both git and path', fix: 'Keep one of the two.' }]
        : []),
      ...rooted([...path, 'path'], role.path),
      ...repository(key, role.git),
    ];
  });
  return {
    issues: [...roles, ...ofAuth(config), ...ofDocker(config.docker, [])],
    reserved: reservedNames(config),
    unenforced: unenforcedGrants(config.docker),
  };
}

/** An address that could not be used is not written down either: it may hold a password. */
function repository(key: string, git: string | undefined): FieldIssue[] {
  if (git === undefined) return [];
  try {
    gitSource(key, git);
    return [];
  } catch (error) {
    if (!(error instanceof JackinError)) throw error;
    return [
      {
        path: ['roles', key, 'git'],
        reason: error.message.replace(/\.$/, ''),
        fix: error.hint ?? 'Correct it.',
      },
    ];
  }
}

/** The rules between the fields of a workspace (docs/configuration.md#workspaces). */
export function checkWorkspace(workspace: WorkspaceConfig): CrossChecks {
  const { default_role: role, allowed_roles: allowed } = workspace;
  const forbidden = role !== undefined && allowed.length > 0 && !allowed.includes(role);
  return {
    issues: [
      ...mountIssues(workspace),
      ...ofAuth(workspace),
      ...ofDocker(workspace.docker, workspace.mounts),
      ...(forbidden
        ? [
            {
              path: ['default_role'],
              reason: `${JSON.stringify(role)} is not in allowed_roles`,
              fix: `Add it to allowed_roles, or choose one of ${allowed.join(', ')}.`,
            },
          ]
        : []),
    ],
    reserved: reservedNames(workspace),
    unenforced: unenforcedGrants(workspace.docker),
  };
}

function ofAuth(holder: Pick<GlobalConfig, keyof typeof agentAuthTables>): FieldIssue[] {
  return Object.keys(agentAuthTables).flatMap((agent) => {
    const table = holder[agent as keyof typeof agentAuthTables];
    const directory = table !== undefined && 'sync_source_dir' in table ? table.sync_source_dir : undefined;
    return rooted([agent, 'sync_source_dir'], directory as string | undefined);
  });
}

function ofDocker({ mounts = {} }: DockerConfig, others: readonly { dst: string }[]): FieldIssue[] {
  const entries = Object.entries(mounts);
  return entries.flatMap(([name, mount], index) => {
    const path = ['docker', 'mounts', name];
    const taken = [...entries.slice(0, index).map(([, other]) => other), ...others];
    const double = taken.some(({ dst }) => samePlace(dst, mount.dst));
    return [
      ...rooted([...path, 'src'], mount.src),
      ...rooted([...path, 'dst'], mount.dst),
      ...(double
        ? [
            {
              path: [...path, 'dst'],
              reason: `there are two mounts at ${JSON.stringify(mount.dst)}`,
              fix: 'Give one of them another dst, or remove it.',
            },
          ]
        : []),
    ];
  });
}

function rooted(path: string[], value: string | undefined): FieldIssue[] {
  if (value === undefined || isRooted(value)) return [];
  return [{ path, reason: notAbsolute(value), fix: absoluteFix(path.join('.')) }];
}
