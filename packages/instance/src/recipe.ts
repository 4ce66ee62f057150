import * as z from 'zod';

/**
 * What a launch was made of, stored once and replayed by every restore (docs/architecture.md).
 * Sources are references; a resolved secret never enters it.
 */
export const recipeSchema = z.looseObject({
  version: z.literal(1),
  backend: z.enum(['docker', 'standalone']),
  image_tag: z.string(),
  image_id: z.string().nullish(),
  role: z.looseObject({
    source: z.string(),
    ref: z.string().nullish(),
    commit: z.string().nullish(),
    content_hash: z.string().nullish(),
    dockerfile: z.string().nullish(),
  }),
  base: z
    .looseObject({ ref: z.string(), digest: z.string().nullish(), image_id: z.string().nullish() })
    .nullish(),
  build: z
    .looseObject({
      args: z.record(z.string(), z.string()).default({}),
      context_hash: z.string().nullish(),
      capsule_digest: z.string().nullish(),
    })
    .nullish(),
  mounts: z.array(
    z.looseObject({
      src: z.string(),
      dst: z.string(),
      isolation: z.enum(['shared', 'worktree', 'clone']),
      readonly: z.boolean(),
    }),
  ),
  /** `source` is what the configuration says: a literal prefixed `literal:`, `$NAME`, or an `op://` reference. */
  env: z.array(z.looseObject({ name: z.string(), source: z.string() })),
  auth_modes: z.record(z.string(), z.string()).default({}),
  run: z.looseObject({
    network: z.string().nullish(),
    user: z.string().nullish(),
    /** Who that is on the host, where user ids in the container are others. */
    host_user: z.string().nullish(),
    security_profile: z.string().nullish(),
    limits: z
      .looseObject({
        memory_bytes: z.number().int().positive().nullish(),
        cpus: z.number().positive().nullish(),
        pids: z.number().int().positive().nullish(),
      })
      .default({}),
    sidecar: z.looseObject({ shape: z.string(), image_id: z.string().nullish() }).nullish(),
  }),
  agent: z.looseObject({
    id: z.string(),
    argv: z.array(z.string()).min(1),
    model: z.string().nullish(),
  }),
  /** Where the agent starts, as the agent sees it. */
  workdir: z.string(),
  engine: z.string().nullish(),
});
export type Recipe = z.infer<typeof recipeSchema>;
