import * as z from 'zod';

/**
 * `agent.toml`, the capsule's launch configuration, regenerated from the recipe before every start.
 * It never holds a secret value; `capsule_key` only proves to the host which capsule it talks to.
 */
export const agentConfigSchema = z.looseObject({
  instance_id: z.string().min(1).max(128),
  role: z.string(),
  workdir: z.string(),
  agents: z.array(z.string()),
  capsule_key: z.string().min(32).max(256),
  dirty_exit_policy: z.enum(['ask', 'keep', 'clean']).optional(),
  isolated_worktrees: z.array(z.string()).optional(),
  /** The session the host will ask for, without secrets, so that a bare start can say what it waits for. */
  session: z.looseObject({ agent: z.string(), argv: z.array(z.string()) }).optional(),
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;
