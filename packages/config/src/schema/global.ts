import * as z from 'zod';
import { agentAuthTables, backendSchema, dockerSchema, envSchema, exitPolicySchema } from './shared.ts';

const commandSchema = z.union([z.string().min(1), z.array(z.string()).min(1)], {
  error: 'expected a program and its arguments, such as ["my-agent", "--quiet"]',
});

/** `[agents.<id>]`: an agent the built-in registry does not know. */
const customAgentSchema = z.looseObject({
  command: commandSchema,
  acp_command: commandSchema.optional(),
  resume: z.enum(['native', 'flag', 'history', 'none']).default('none'),
  resume_flag: z.string().min(1).optional(),
  session_dir: z.string().min(1).optional(),
});

/** `config.toml` (docs/configuration.md#config-toml). Unknown keys are kept, so that a newer field is no error. */
export const globalConfigSchema = z.looseObject({
  version: z.string().optional(),
  dirty_exit_policy: exitPolicySchema.optional(),
  /** 0 looks for new commits of a role at every launch. */
  role_repo_refresh_ttl_seconds: z.number().int().nonnegative().default(60),
  ...agentAuthTables,
  env: envSchema.default({}),
  roles: z
    .record(
      z.string(),
      z.looseObject({
        git: z.string().optional(),
        path: z.string().optional(),
        trusted: z.boolean().default(false),
        env: envSchema.default({}),
      }),
    )
    .default({}),
  docker: dockerSchema.prefault({}),
  runtime: z.looseObject({ default_backend: backendSchema.default('docker') }).prefault({}),
  telemetry: z.looseObject({}).optional(),
  git: z
    .looseObject({ coauthor_trailer: z.boolean().default(false), dco: z.boolean().default(false) })
    .prefault({}),
  agents: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'not an agent id'), customAgentSchema)
    .default({}),
  retention: z
    .looseObject({
      max_kept_per_target: z.number().int().positive().optional(),
      warn_after_days: z.number().positive().default(14),
    })
    .prefault({}),
  attach: z
    .looseObject({
      prefix: z
        .string()
        .regex(/^C-[a-zA-Z@[\\\]^_]$/, 'expected a control key such as "C-b"')
        .default('C-b'),
    })
    .prefault({}),
});
export type GlobalConfig = z.infer<typeof globalConfigSchema>;
