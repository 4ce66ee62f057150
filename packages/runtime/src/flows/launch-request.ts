import { type AgentDefinition, agentArgv, findAgent } from '@jackin/agents';
import { envReferences, type LoadedConfig, resolveTarget, type Target } from '@jackin/config';
import { JackinError } from '@jackin/core';
import { type Recipe, workdirFingerprint } from '@jackin/instance';
import type { LaunchTarget } from '../decide/candidates.ts';
import type { LoadRequest } from './api.ts';
import { knownAgents } from './known-agents.ts';
import { launchMounts, standaloneMountNotices } from './launch-mounts.ts';
import { type Role, resolveRole } from './roles.ts';
import type { World } from './world.ts';

/** A launch with every name looked up and everything checked that can be before anything is made. */
export interface PreparedLaunch {
  target: Target;
  role: Role;
  agent: AgentDefinition;
  supportedAgents: string[];
  launchTarget: LaunchTarget;
  recipe: Recipe;
  /** What the operator must hear before it starts. */
  notices: string[];
  /** The command as it was meant, for hints. */
  invocation: string;
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
  const agent = chooseAgent(request.agent, role, target, agents);
  const backend = chooseBackend(world, request, target, loaded);
  const mounts = await launchMounts(world, target, request);
  // A process on this machine starts where the project really is.
  const workdir = backend === 'standalone' ? target.hostDir : target.workdir;
  const shell = world.env.SHELL;
  const recipe: Recipe = {
    version: 1,
    backend,
    image_tag: backend,
    role: role.source,
    mounts: mounts.map((mount) => ({ ...mount })),
    env: envReferences(loaded, target, role.key).map((reference) => ({ ...reference })),
    auth_modes: {},
    run: { limits: request.limits },
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
    supportedAgents: (role.agents ?? agents.map(({ id }) => id)).slice(),
    launchTarget: {
      workspaceName: target.workspaceName,
      hostWorkdirFingerprint: workdirFingerprint(target.hostDir),
      roleKey: role.key,
      agent: agent.id,
    },
    recipe,
    notices: backend === 'standalone' ? standaloneMountNotices(mounts) : [],
    invocation: invocation(request, role, agent, target),
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

function word(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
