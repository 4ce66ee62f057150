import { type AgentDefinition, withCustomAgents } from '@jackin/agents';
import type { LoadedConfig } from '@jackin/config';

/** The built-in agents and the configured ones. Throws what the configuration is refused for. */
export async function knownAgents(world: {
  config(): Promise<LoadedConfig>;
}): Promise<readonly AgentDefinition[]> {
  return withCustomAgents((await world.config()).config.agents);
}
