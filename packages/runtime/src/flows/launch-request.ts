import { type AgentDefinition, agentArgv, findAgent } from '@jackin/agents';
import { envReferences, type LoadedConfig, resolveTarget, type Target } from '@jackin/config';
import { JackinError } from '@jackin/core';
import { type Recipe, workdirFingerprint } from '@jackin/instance';
import type { LaunchTarget } from '../decide/candidates.ts';
import type { LoadRequest } from './api.ts';
import { dockerRecipe, roleAgents } from './docker-recipe.ts';
import { knownAgents } from './known-agents.ts';
import { launchMounts, standaloneMountNotices } from './launch-mounts.ts';
import { type Role, resolveRole } from './roles.ts';
import type { World } from './world.ts';

/** Every image has one, whatever shell the operator uses on this machine. */
const CONTAINER_SHELL = '/bin/bash';

/** A launch with every name looked up and everything checked that can be before anything is made. */
export interface PreparedLaunch {
  target: Target;
  role: Role;
  agent: AgentDefinition;
  supportedAgents: string[];
  launchTarget: LaunchTarget;
  backend: Recipe['backend'];
  /** What a new session is made of. Asked for only when one is: a resumed session has its own, whatever became of the role. */
  recipe(): Promise<Recipe>;
  /** What the operator must hear before it starts. */
  notices: string[];
  /** The command as it was meant, for hints; a resumed session takes no flag of its recipe. */
  invocation: string;
  startNew: string;
}

/**
 * Looks up workspace, role, agent, backend and mounts (docs/status-and-causes.md#launch).
 * @throws JackinError what any of them is refused for; BACKEND_UNAVAILABLE, AGENT_NOT_SUPPORTED
 */
export async function prepareLaunch(world: World, request: LoadRequest): Promise<PreparedLaunch> {
  const loaded = await world.config();
  const target = await resolveTarget({ target: request.target, cwd: world.cwd, loaded });
  const role = resolveRole(request.role, target, loaded);
  const agents = await knownAgents(world);
  const backend = chooseBackend(world, request, target, loaded);
  const supported = role.agents ?? (backend === 'docker' ? await roleAgents(world, role) : null);
  const agent = chooseAgent(request.agent, { ...role, agents: supported }, target, agents);
  const mounts = await launchMounts(world, target, request);
  // A process on this machine starts where the project really is.
  const workdir = backend === 'standalone' ? target.hostDir : target.workdir;
  const shell = backend === 'docker' ? CONTAINER_SHELL : world.env.SHELL;
  const ofBackend = async () =>
    backend === 'docker'
      ? dockerRecipe(world, { role, agent, mounts })
      : { user: null, image_tag: backend, role: role.source };
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
    supportedAgents: (supported ?? agents.map(({ id }) => id)).slice(),
    launchTarget: {
      workspaceName: target.workspaceName,
      hostWorkdirFingerprint: workdirFingerprint(target.hostDir),
      roleKey: role.key,
      agent: agent.id,
    },
    backend,
    async recipe() {
      const { user, ...image } = await ofBackend();
      const run = { limits: request.limits, ...(user === null ? {} : { user }) };
      return { version: 1, backend, ...image, ...common, run };
    },
    notices: backend === 'standalone' ? standaloneMountNotices(mounts) : [],
    invocation: invocation(request, role, agent, target),
    startNew: `${invocation(request, role, agent, target)}${recipeFlags(request)}`,
  };
}

function chooseAgent(
  requested: string | null,
  role: Role,
  target: Target,
  agents: readonly AgentDefinition[],
): AgentDefinition {
  const supported = role.agents;
  const wanted = requested ?? target.workspace?.default_agent ?? supported?.[0] ?? agents[0]?.id ?? 'shell';
  const agent = findAgent(wanted, agents);
  if (supported === null || supported.includes(agent.id)) return agent;
  throw new JackinError({
    code: 'AGENT_NOT_SUPPORTED',
    message: `The role ${role.key} does not support the agent ${agent.id}`,
    hint: `It supports: ${supported.join(', ')}`,
    details: { role: role.key, agent: agent.id, supported: [...supported] },
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

function invocation(request: LoadRequest, role: Role, agent: AgentDefinition, target: Target): string {
  return [
    'jackin load',
    role.key,
    word(request.target ?? target.label),
    `--agent ${agent.id}`,
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
