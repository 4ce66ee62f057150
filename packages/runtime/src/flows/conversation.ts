import type { AgentDefinition } from '@jackin/agents';
import { agentRegistry, resumeArgv } from '@jackin/agents';
import { newSessionId } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { InstanceDocument } from '../jackin.ts';
import type { SessionRequest } from '../plan.ts';
import type { World } from './world.ts';

export type Conversation = InstanceDocument['conversation'];

/** Terminals have a size even when nobody looks yet. */
const UNSEEN_SIZE = { cols: 80, rows: 24 };

/** How the conversation of an instance's agent comes back: only a token that was captured brings it back. */
export function conversationOf(manifest: Manifest, agents: readonly AgentDefinition[]): Conversation {
  const agent = agents.find(({ id }) => id === manifest.agent_runtime);
  const token = manifest.resume?.[manifest.agent_runtime]?.token;
  if (agent === undefined || token === undefined) return 'none';
  return resumeArgv(agent, token, { extra: [] }) === null ? 'none' : 'flag';
}

/** The session a restore starts: the recipe's command, with the conversation's token where there is one. */
export function resumedSession(
  world: World,
  manifest: Manifest,
  agents: readonly AgentDefinition[] = agentRegistry,
): SessionRequest {
  const recipe = manifest.recipe;
  const id = recipe?.agent.id ?? manifest.agent_runtime;
  const recorded = recipe?.agent.argv ?? [manifest.agent_runtime];
  const agent = agents.find((one) => one.id === id);
  const token = manifest.resume?.[id]?.token;
  const extra = recorded.slice(agent?.argv.length ?? recorded.length);
  const resumed = agent === undefined || token === undefined ? null : resumeArgv(agent, token, { extra });
  return sessionRequest(world, {
    agent: id,
    argv: resumed ?? recorded,
    cwd: recipe?.workdir ?? manifest.workdir,
  });
}

/** A new terminal session, as large as the terminal that asks for it. */
export function sessionRequest(
  world: World,
  what: { agent: string; argv: string[]; cwd: string },
): SessionRequest {
  const { cols, rows } = world.terminal?.size() ?? UNSEEN_SIZE;
  return { session_id: newSessionId(), name: what.agent, ...what, cols, rows };
}
