import type { AgentDefinition } from '@jackin/agents';

const SHELL = 'shell';

/** What to do about a program that cannot be started: an agent is installed, a command of the operator's is corrected. */
export function programHint(agent: AgentDefinition | undefined, program: string): string {
  if (agent !== undefined && agent.id !== SHELL) return agent.installHint;
  return `Check the command after --: ${JSON.stringify(program)} has to be a program where the session runs.`;
}
