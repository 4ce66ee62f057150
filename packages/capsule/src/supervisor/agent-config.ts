import { JackinError, readFileBounded } from '@jackin/core';
import { parse } from 'smol-toml';
import { type AgentConfig, agentConfigSchema } from '../protocol/index.ts';

const MAX_CONFIG_BYTES = 256 * 1024;

/**
 * The capsule's launch configuration (`agent.toml`).
 * @throws JackinError `AGENT_CONFIG_INVALID`; what reading a bounded file says
 */
export async function readAgentConfig(file: string, instanceId: string): Promise<AgentConfig> {
  const bytes = await readFileBounded(file, { maxBytes: MAX_CONFIG_BYTES });
  if (bytes === null) throw invalid(file, 'it is not there');
  const config = parseConfig(file, bytes.toString('utf8'));
  if (config.instance_id === instanceId) return config;
  throw invalid(file, `it is for instance ${config.instance_id}, not for ${instanceId}`);
}

function parseConfig(file: string, text: string): AgentConfig {
  try {
    return agentConfigSchema.parse(parse(text));
  } catch (error) {
    throw invalid(file, error instanceof Error ? error.message : String(error), error);
  }
}

function invalid(file: string, reason: string, cause?: unknown): JackinError {
  return new JackinError({
    code: 'AGENT_CONFIG_INVALID',
    message: `The capsule cannot start from ${file}: ${reason}.`,
    hint: 'It is written again by the next start: jackin resume.',
    cause,
  });
}
