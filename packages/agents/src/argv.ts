import { isAbsolute } from 'node:path';
import type { AgentDefinition } from './definition.ts';

const SHELL = '$SHELL';
const FALLBACK_SHELL = '/bin/sh';

export interface ArgvOptions {
  /** What follows `--` on the command line: a shell runs it instead, other agents get it as arguments. */
  extra: readonly string[];
  /** The operator's shell; default `$SHELL` of this process. */
  shell?: string;
}

/** The command line that starts an agent in a terminal. No secret is ever part of it. */
export function agentArgv(agent: AgentDefinition, options: ArgvOptions): string[] {
  const isShell = agent.argv[0] === SHELL;
  if (isShell && options.extra.length > 0) return [...options.extra];
  return [...agent.argv.map((word) => (word === SHELL ? shellOf(options) : word)), ...options.extra];
}

/**
 * The command line that continues a conversation in a terminal.
 * @param token the conversation's id
 * @returns null when this agent cannot be told which conversation to continue
 */
export function resumeArgv(agent: AgentDefinition, token: string, options: ArgvOptions): string[] | null {
  if (agent.resumeArgs === null) return null;
  const resume = agent.resumeArgs.map((word) => word.replace('{token}', () => token));
  const [program, ...rest] = agentArgv(agent, { ...options, extra: [] }) as [string, ...string[]];
  return [program, ...rest, ...resume, ...options.extra];
}

/** A relative or empty `$SHELL` would be looked up in the project's directory. */
function shellOf(options: ArgvOptions): string {
  const shell = options.shell ?? process.env.SHELL;
  return shell !== undefined && isAbsolute(shell) ? shell : FALLBACK_SHELL;
}
