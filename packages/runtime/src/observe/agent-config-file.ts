import { type AgentConfig, agentConfigSchema } from '@jackin/capsule/protocol';
import {
  JackinError,
  type JackinPaths,
  type Owner,
  readFileBounded,
  registerSecret,
  writeFileDurable,
} from '@jackin/core';
import { parse, stringify } from 'smol-toml';

const MAX_BYTES = 256 * 1024;

/**
 * Reads `data/<base>/.jackin/agent.toml`; the capsule key in it is registered for redaction.
 * Throws AGENT_CONFIG_MISSING, AGENT_CONFIG_INVALID, or the file errors of `readFileBounded`.
 */
export async function readAgentConfig(paths: JackinPaths, base: string): Promise<AgentConfig> {
  const file = paths.instance(base).agentConfig;
  const bytes = await readFileBounded(file, { maxBytes: MAX_BYTES });
  if (bytes === null) {
    throw new JackinError({
      code: 'AGENT_CONFIG_MISSING',
      message: `${file} does not exist, so the capsule of ${base} cannot be recognised`,
      hint: `Run \`jackin resume ${base}\` to write it again.`,
    });
  }
  const config = parseConfig(bytes, file, base);
  registerSecret(config.capsule_key);
  return config;
}

/**
 * Writes `agent.toml` durably, mode 0600. It holds no secret but the capsule key.
 * @param owner who runs the capsule; default: the user of this process
 */
export async function writeAgentConfig(
  paths: JackinPaths,
  base: string,
  config: AgentConfig,
  owner?: Owner,
): Promise<void> {
  registerSecret(config.capsule_key);
  const options = { mode: 0o600, ...(owner === undefined ? {} : { owner }) };
  await writeFileDurable(paths.instance(base).agentConfig, `${stringify(config)}\n`, options);
}

function parseConfig(bytes: Buffer, file: string, base: string): AgentConfig {
  try {
    return agentConfigSchema.parse(parse(bytes.toString('utf8')));
  } catch (error) {
    throw new JackinError({
      code: 'AGENT_CONFIG_INVALID',
      message: `${file} cannot be read as the capsule's launch configuration`,
      hint: `Run \`jackin resume ${base}\` to write it again.`,
      cause: error,
    });
  }
}
