import { configInvalid, type FieldIssue, locate } from '../errors.ts';
import type { LoadedConfig, Target } from '../types.ts';
import { memoryBytes } from './memory.ts';
import type { DockerConfig } from './shared.ts';

/** Limits of a session, as `load` takes them with `--memory`, `--cpus` and `--pids`. */
export interface ConfiguredLimits {
  memory_bytes?: number;
  cpus?: number;
  pids?: number;
}

/**
 * The limits `[docker.grants]` sets, the workspace's over the global ones (docs/configuration.md#limits). A grant that
 * this version does not enforce is an error wherever it would count, never ignored.
 * @throws JackinError `CONFIG_INVALID` naming every such grant of the two files
 */
export function resolveLimits(
  loaded: Pick<LoadedConfig, 'config' | 'sources'>,
  target: Pick<Target, 'workspaceName' | 'workspace'>,
): ConfiguredLimits {
  const { workspace, workspaceName } = target;
  const source = workspaceName === null ? undefined : loaded.sources?.workspaces.get(workspaceName);
  refuse(loaded.config.docker, loaded.sources?.config, 'config.toml');
  if (workspace !== null) refuse(workspace.docker, source, `workspace ${JSON.stringify(workspaceName)}`);
  const { memory, cpus, pids } = { ...loaded.config.docker.grants, ...workspace?.docker.grants };
  return {
    ...(memory === undefined ? {} : { memory_bytes: memoryBytes(memory) as number }),
    ...(cpus === undefined ? {} : { cpus: Number(cpus) }),
    ...(pids === undefined ? {} : { pids }),
  };
}

const GRANTS: ReadonlySet<string> = new Set([
  'memory',
  'cpus',
  'pids',
  'network',
  'allowed_hosts',
  'dind',
  'user',
  'sudo',
  'nofile',
  'capabilities_add',
]);

/** Grants that ask for more, or for less, than every instance of this version gets. */
export function unenforcedGrants({ profile, grants = {} }: DockerConfig): FieldIssue[] {
  const {
    network,
    allowed_hosts: hosts = [],
    dind,
    user,
    sudo,
    nofile,
    capabilities_add: added = [],
  } = grants;
  const unknown = Object.keys(grants).filter((key) => !GRANTS.has(key));
  const asked: [boolean, ...string[]][] = [
    ...unknown.map((key): [boolean, ...string[]] => [true, 'grants', key]),
    [profile !== undefined && profile !== 'standard', 'profile'],
    [network !== undefined && network !== 'open', 'grants', 'network'],
    [hosts.length > 0, 'grants', 'allowed_hosts'],
    [dind !== undefined && dind !== 'none', 'grants', 'dind'],
    [user !== undefined, 'grants', 'user'],
    [sudo === true, 'grants', 'sudo'],
    [nofile !== undefined, 'grants', 'nofile'],
    [added.length > 0, 'grants', 'capabilities_add'],
  ];
  return asked
    .filter(([unenforced]) => unenforced)
    .map(([, ...keys]) => {
      const path = ['docker', ...keys];
      const reason = 'this version does not enforce it, and a session would not have it';
      return { path, reason, fix: `Remove ${path.join('.')}.` };
    });
}

type Source = NonNullable<LoadedConfig['sources']>['config'] | undefined;

function refuse(docker: DockerConfig, source: Source, name: string): void {
  const issues = unenforcedGrants(docker);
  if (issues.length === 0) return;
  const place = source ?? { file: name, text: '', prefix: [] };
  throw configInvalid(place.file, locate(place, issues));
}
