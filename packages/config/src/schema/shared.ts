import * as z from 'zod';
import { memoryBytes } from './memory.ts';

export const exitPolicySchema = z.enum(['ask', 'keep', 'clean']);

const opReference = z.looseObject({
  op: z.string().startsWith('op://'),
  account: z.string().min(1).optional(),
  on_demand: z.boolean().optional(),
});
const wrappedValue = z.looseObject({ value: z.string(), on_demand: z.boolean().optional() });

/** A value that stays a reference until a session starts (docs/configuration.md#values). */
export const envValueSchema = z.union([z.string(), opReference, wrappedValue], {
  error: 'expected "text", "$NAME", { op = "op://vault/item/field" } or { value = "text" }',
});
export type EnvValue = z.infer<typeof envValueSchema>;

export const envSchema = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of an environment variable'),
  envValueSchema,
);
export type Env = z.infer<typeof envSchema>;

const syncSourceDir = z.string().min(1).optional();
const agentAuthSchema = z.looseObject({
  auth_forward: z.enum(['sync', 'api_key', 'ignore']).optional(),
  sync_source_dir: syncSourceDir,
});

export const githubSchema = z.looseObject({
  auth_forward: z.enum(['sync', 'token', 'ignore']).optional(),
  env: envSchema.optional(),
});

/** How each agent gets its credentials: one table per agent. */
export const agentAuthTables = {
  claude: z
    .looseObject({
      auth_forward: z.enum(['sync', 'api_key', 'oauth_token', 'ignore']).optional(),
      sync_source_dir: syncSourceDir,
    })
    .optional(),
  codex: agentAuthSchema.optional(),
  amp: agentAuthSchema.optional(),
  kimi: agentAuthSchema.optional(),
  opencode: agentAuthSchema.optional(),
  grok: agentAuthSchema.optional(),
  gemini: agentAuthSchema.optional(),
  copilot: agentAuthSchema.optional(),
  github: githubSchema.optional(),
};

/** Whose credentials can be configured: the agents, and `github`. */
export const AUTH_HOLDERS = Object.keys(agentAuthTables);

export const backendSchema = z.enum(['docker', 'standalone']);

const AMOUNT = { error: 'expected bytes, or an amount such as "512m" or "2g"' };
const memory = z
  .union([z.number(), z.string()], AMOUNT)
  .refine((value) => memoryBytes(value) !== null, AMOUNT);
const processors = z.union(
  [
    z.number().positive(),
    z.string().regex(/^(?=.*[1-9])\d+(?:\.\d+)?$/, 'expected a number of processors such as 1.5'),
  ],
  {
    error: 'expected a number of processors such as 1.5',
  },
);

export const dockerSchema = z.looseObject({
  profile: z.enum(['locked', 'hardened', 'standard', 'compat']).optional(),
  grants: z
    .looseObject({
      network: z.enum(['none', 'allowlist', 'open']).optional(),
      allowed_hosts: z.array(z.string()).optional(),
      dind: z.enum(['none', 'rootless', 'privileged', 'custom']).optional(),
      user: z.union([z.string().min(1), z.number().int().nonnegative()]).optional(),
      sudo: z.boolean().optional(),
      memory: memory.optional(),
      cpus: processors.optional(),
      pids: z.number().int().positive().optional(),
      nofile: z.number().int().positive().optional(),
      capabilities_add: z.array(z.string()).optional(),
    })
    .optional(),
  mounts: z
    .record(
      z.string(),
      z.looseObject({ src: z.string().min(1), dst: z.string().min(1), readonly: z.boolean().default(false) }),
    )
    .optional(),
});
export type DockerConfig = z.infer<typeof dockerSchema>;
