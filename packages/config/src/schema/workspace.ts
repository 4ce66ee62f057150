import * as z from 'zod';
import {
  agentAuthTables,
  backendSchema,
  dockerSchema,
  envSchema,
  exitPolicySchema,
  githubSchema,
} from './shared.ts';

/** `workspaces/<name>.toml` (docs/configuration.md#workspaces). Unknown keys are kept. */
export const workspaceConfigSchema = z.looseObject({
  version: z.string().optional(),
  workdir: z.string().min(1),
  mounts: z
    .array(
      z.looseObject({
        src: z.string().min(1),
        dst: z.string().min(1),
        readonly: z.boolean().default(false),
        isolation: z.enum(['shared', 'worktree', 'clone']).default('shared'),
      }),
    )
    .default([]),
  allowed_roles: z.array(z.string()).default([]),
  default_role: z.string().optional(),
  default_agent: z.string().optional(),
  last_role: z.string().optional(),
  ...agentAuthTables,
  env: envSchema.default({}),
  roles: z
    .record(z.string(), z.looseObject({ env: envSchema.default({}), github: githubSchema.optional() }))
    .default({}),
  git_pull_on_entry: z.boolean().default(false),
  runtime: z.looseObject({ backend: backendSchema.optional() }).prefault({}),
  dirty_exit_policy: exitPolicySchema.optional(),
  docker: dockerSchema.prefault({}),
});
export type WorkspaceConfig = z.infer<typeof workspaceConfigSchema>;
