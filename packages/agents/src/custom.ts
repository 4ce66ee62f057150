import { JackinError } from '@jackin/core';
import * as z from 'zod';
import type { AgentDefinition } from './definition.ts';
import { agentRegistry, USUAL_CLEAN_EXIT_CODES } from './registry.ts';

const command = z.union([z.string(), z.array(z.string()).min(1)]);

const customAgentSchema = z.looseObject({
  command,
  acp_command: command.optional(),
  resume: z.enum(['native', 'flag', 'history', 'none']).default('none'),
  resume_flag: z.string().min(1).optional(),
  session_dir: z.string().min(1).optional(),
});

/**
 * The built-in agents and those of `[agents.<id>]` in config.toml (docs/agents.md#custom-agents).
 * A command is a list of arguments, or a text that is split at spaces and never given to a shell.
 * `resume_flag` is one argument with `{token}` in it, or a flag that the id follows.
 * @param agents `config.agents`; checked here too, so that any program can pass its own
 * @throws JackinError `AGENT_INVALID` naming the agent: a built-in id, no command, quotes in a text, a strategy
 *   without what it needs, a session directory outside HOME
 */
export function withCustomAgents(agents: Readonly<Record<string, unknown>>): readonly AgentDefinition[] {
  return [...agentRegistry, ...Object.entries(agents).map(([id, value]) => customAgent(id, value))];
}

function customAgent(id: string, value: unknown): AgentDefinition {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(id)) throw invalid(id, 'an id is made of a-z, 0-9, "_" and "-"');
  if (agentRegistry.some((agent) => agent.id === id)) throw invalid(id, 'this id is built in');
  const parsed = customAgentSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(id, `${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { command: argv, acp_command: acp, resume, resume_flag: flag, session_dir: sessions } = parsed.data;
  if (resume === 'flag' && flag === undefined) throw invalid(id, 'resume = "flag" needs resume_flag');
  if (resume === 'native' && acp === undefined) throw invalid(id, 'resume = "native" needs acp_command');
  return {
    id,
    displayName: id,
    argv: words(id, 'command', argv),
    acpArgv: acp === undefined ? null : words(id, 'acp_command', acp),
    resume,
    resumeArgs: flag === undefined ? null : resumeArgs(flag),
    newSessionArgs: null,
    sessionFiles: sessions === undefined ? [] : [insideHome(id, sessions)],
    authModes: ['ignore'],
    authEnv: [],
    cleanExitCodes: USUAL_CLEAN_EXIT_CODES,
    refusesRoot: false,
    installHint: `Install what [agents.${id}] in config.toml runs.`,
    firstRunState: [],
  };
}

function words(id: string, key: string, value: string | string[]): string[] {
  const list = typeof value === 'string' ? value.split(/\s+/).filter((word) => word !== '') : value;
  if (list.length === 0 || list[0] === '') throw invalid(id, `${key} is empty`);
  if (typeof value === 'string' && /["'\\]/.test(value)) {
    throw invalid(id, `${key} has quotes; write it as a list: ["program", "an argument"]`);
  }
  return list;
}

function resumeArgs(flag: string): string[] {
  return flag.includes('{token}') ? [flag] : [flag, '{token}'];
}

/** Relative to HOME, so that it is the instance's own and never another one's. */
function insideHome(id: string, path: string): string {
  const below = path.startsWith('~/') ? path.slice(2) : path;
  if (below.startsWith('/') || below === '~' || below.split('/').includes('..')) {
    throw invalid(id, `session_dir ${JSON.stringify(path)} is not inside the home directory`);
  }
  return below;
}

function invalid(id: string, reason: string): JackinError {
  return new JackinError({
    code: 'AGENT_INVALID',
    message: `The agent ${JSON.stringify(id)} cannot be used: ${reason}.`,
    hint: `Correct [agents.${id}] in config.toml and run the command again.`,
    details: { agent: id, reason },
  });
}
