import { type AgentDefinition, agentArgv, findAgent } from '@jackin/agents';
import {
  configuredMounts,
  envReferences,
  type LoadedConfig,
  type MountSpec,
  type ResolvedRole,
  recordedRole,
  resolveLimits,
  resolveTarget,
  type Target,
} from '@jackin/config';
import { JackinError } from '@jackin/core';
import { type Recipe, workdirFingerprint } from '@jackin/instance';
import type { EngineFact } from '../backend.ts';
import type { LaunchTarget } from '../decide/candidates.ts';
import type { LoadRequest } from './api.ts';
import { dockerRecipe } from './docker-recipe.ts';
import { homeOf } from './home.ts';
import { knownAgents } from './known-agents.ts';
import { launchMounts, refuseReserved, standaloneMountNotices } from './launch-mounts.ts';
import { inspectSources, type Sources } from './launch-trees.ts';
import { agentsOf, type LaunchRole, launchRole, roleNotices } from './roles.ts';
import type { World } from './world.ts';

const LEAST_MEMORY_BYTES = 6 * 1024 ** 2;

/** Every image has one, whatever shell the operator uses on this machine. */
const CONTAINER_SHELL = '/bin/bash';

/** A launch with every name looked up and everything checked that can be before anything is made. */
export interface PreparedLaunch {
  target: Target;
  role: LaunchRole;
  agent: AgentDefinition;
  launchTarget: LaunchTarget;
  backend: Recipe['backend'];
  /** Of a new session. */
  mounts: readonly MountSpec[];
  /** What a new session is made of. Asked for only when one is: a resumed session has its own, whatever became of the role. */
  make(engine: EngineFact): Promise<LaunchMaterial>;
  /** The command as it was meant, for hints; a resumed session takes no flag of its recipe. */
  invocation: string;
  startNew: string;
}

/** Everything a new instance is recorded with. */
export interface LaunchMaterial {
  recipe: Recipe;
  role: { key: string; displayName: string; git: string | null; ref: string | null };
  supportedAgents: string[];
  /** What the operator must hear before it starts. */
  notices: string[];
  /** The sources of its worktrees and clones, as they are now. */
  sources: Sources;
  /** A source with uncommitted changes may be used. */
  force: boolean;
}

/**
 * Looks up workspace, role, agent, backend and mounts (docs/status-and-causes.md#launch).
 * @throws JackinError what any of them is refused for; BACKEND_UNAVAILABLE, AGENT_NOT_SUPPORTED
 */
export async function prepareLaunch(world: World, request: LoadRequest): Promise<PreparedLaunch> {
  const loaded = await world.config();
  const target = await resolveTarget({ target: request.target, cwd: world.cwd, loaded });
  const backend = chooseBackend(world, request, target, loaded);
  const role = await launchRole(world, request, target, loaded);
  const agents = await knownAgents(world);
  const supported = role.known === null ? null : agentsOf(role.known, backend);
  const agent = chooseAgent(request.agent, { key: role.key, agents: supported }, target, agents);
  // `[docker]` counts for containers only.
  const configured = backend === 'docker' ? await configuredMounts(loaded, target, homeOf(world)) : [];
  const mounts = await launchMounts(world, { mounts: [...target.mounts, ...configured] }, request);
  const limits = { ...(backend === 'docker' ? resolveLimits(loaded, target) : {}), ...request.limits };
  if (backend === 'docker') {
    refuseReserved(mounts);
    refuseTooLittle(limits);
  }
  // A process on this machine starts where the project really is.
  const workdir = backend === 'standalone' ? target.hostDir : target.workdir;
  const shell = backend === 'docker' ? CONTAINER_SHELL : world.env.SHELL;
  const ofBackend = async (opened: ResolvedRole, engine: EngineFact) =>
    backend === 'docker'
      ? dockerRecipe({
          role: opened,
          agent,
          mounts,
          rootless: 'rootless' in engine && engine.rootless === true,
        })
      : { user: null, image_tag: backend, role: recordedRole(opened.source) };
  const common = {
    mounts: mounts.map((mount) => ({ ...mount })),
    env: envReferences(loaded, target, role.key).map((reference) => ({ ...reference })),
    auth_modes: {},
    agent: {
      id: agent.id,
      argv: agentArgv(agent, { extra: request.command, ...(shell === undefined ? {} : { shell }) }),
    },
    workdir,
  };
  return {
    target,
    role,
    agent,
    launchTarget: {
      workspaceName: target.workspaceName,
      hostWorkdirFingerprint: workdirFingerprint(target.hostDir),
      roleKey: role.key,
      agent: agent.id,
    },
    backend,
    mounts,
    async make(engine) {
      const opened = await role.open();
      const { source, manifest } = opened;
      const can = agentsOf(opened, backend);
      requireSupported(agent, { key: role.key, agents: can });
      const { user, host_user, ...image } = { host_user: undefined, ...(await ofBackend(opened, engine)) };
      const sources = await inspectSources(world, mounts);
      const run = { limits, ...(user == null ? {} : { user }), ...(host_user == null ? {} : { host_user }) };
      const [git, ref] = source.kind === 'git' ? [source.git, source.branch] : [null, null];
      return {
        recipe: { version: 1, backend, ...image, ...common, run },
        role: { key: role.key, displayName: manifest.display_name ?? role.key, git, ref },
        supportedAgents: (can ?? agents.map(({ id }) => id)).slice(),
        notices: [
          ...(backend === 'standalone' ? standaloneMountNotices(mounts) : []),
          ...roleNotices(opened, backend, agent.id),
        ],
        sources,
        force: request.force,
      };
    },
    invocation: invocation(request, role, agent, target),
    startNew: `${invocation(request, role, agent, target)}${recipeFlags(request)}`,
  };
}

/** What every engine refuses, though only when the container is made. @throws JackinError LIMIT_INVALID */
function refuseTooLittle({ memory_bytes: memory }: LoadRequest['limits']): void {
  if (memory === undefined || memory >= LEAST_MEMORY_BYTES) return;
  throw new JackinError({
    code: 'LIMIT_INVALID',
    message: `A container cannot live with ${memory} bytes of memory`,
    hint: 'Give it at least 6m, as in --memory 512m or memory = "512m" of [docker.grants]',
    details: { memory_bytes: memory, least: LEAST_MEMORY_BYTES },
    exitCode: 2,
  });
}

interface Supported {
  key: string;
  /** Null: every known one. */
  agents: readonly string[] | null;
}

function chooseAgent(
  requested: string | null,
  role: Supported,
  target: Target,
  agents: readonly AgentDefinition[],
): AgentDefinition {
  const wanted = requested ?? target.workspace?.default_agent ?? role.agents?.[0] ?? agents[0]?.id ?? 'shell';
  const agent = findAgent(wanted, agents);
  requireSupported(agent, role);
  return agent;
}

function requireSupported(agent: AgentDefinition, { key, agents }: Supported): void {
  if (agents === null || agents.includes(agent.id)) return;
  throw new JackinError({
    code: 'AGENT_NOT_SUPPORTED',
    message: `The role ${key} does not support the agent ${agent.id}`,
    hint: `It supports: ${agents.join(', ')}`,
    details: { role: key, agent: agent.id, supported: [...agents] },
    exitCode: 2,
  });
}

/** Never a silent stand-in: a backend that is not there is an error, whatever else is. */
function chooseBackend(
  world: World,
  request: LoadRequest,
  target: Target,
  { config }: LoadedConfig,
): 'docker' | 'standalone' {
  const wanted = request.backend ?? target.workspace?.runtime.backend ?? config.runtime.default_backend;
  if (world.backendOf.has(wanted)) return wanted;
  throw new JackinError({
    code: 'BACKEND_UNAVAILABLE',
    message: `The ${wanted} backend is not available in this version`,
    hint: 'Run the agent as a process of this machine with --backend standalone: it isolates files, not the machine.',
    details: { backend: wanted, available: [...world.backendOf.keys()] },
  });
}

function invocation(request: LoadRequest, role: LaunchRole, agent: AgentDefinition, target: Target): string {
  return [
    'jackin load',
    role.key,
    word(request.target ?? target.label),
    `--agent ${agent.id}`,
    ...(request.roleBranch == null ? [] : [`--role-branch ${word(request.roleBranch)}`]),
    ...(request.backend === null ? [] : [`--backend ${request.backend}`]),
    ...(request.detach ? ['--detach'] : []),
  ].join(' ');
}

/** What makes a new session this one, then `--new`, then the command. */
function recipeFlags({ mounts, mountIsolation, limits, command, force }: LoadRequest): string {
  const { memory_bytes: memory, cpus, pids } = limits;
  return [
    ...mounts.map((mount) => ` --mount ${word(mount)}`),
    ...mountIsolation.map((isolation) => ` --mount-isolation ${word(isolation)}`),
    ...(memory === undefined ? [] : [` --memory ${memory}`]),
    ...(cpus === undefined ? [] : [` --cpus ${cpus}`]),
    ...(pids === undefined ? [] : [` --pids ${pids}`]),
    ...(force ? [' --force'] : []),
    ' --new',
    ...(command.length === 0 ? [] : [` -- ${command.map(word).join(' ')}`]),
  ].join('');
}

function word(text: string): string {
  return /^[\w./@:+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
