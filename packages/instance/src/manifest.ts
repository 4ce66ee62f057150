import * as z from 'zod';
import { recipeSchema } from './recipe.ts';
import { CAUSE_KINDS, STATUSES } from './status.ts';

/** Unknown fields are kept on every object, so that a rewrite loses nothing another jackin wrote. */
export const exitCauseSchema = z.looseObject({
  kind: z.enum(CAUSE_KINDS),
  exit_code: z.number().int().nullish(),
  /** RFC 3339 */
  at: z.string(),
  evidence: z.array(z.string()).default([]),
});
export type ExitCause = z.infer<typeof exitCauseSchema>;

export const keepSchema = z.looseObject({
  intent: z.enum(['operator', 'policy', 'could_not_ask']),
  at: z.string(),
  image_id: z.string().optional(),
});

export const sessionSchema = z.looseObject({
  session_id: z.string(),
  name: z.string(),
  agent_runtime: z.string(),
  tmux_name: z.string(),
  created_at: z.string(),
  status: z.string(),
  last_attached_at: z.string().optional(),
});

/** Where a standalone instance's capsule runs. The socket is recorded because its path may be a short one. */
export const standaloneBackendSchema = z.looseObject({
  pid: z.number().int(),
  start_time: z.string(),
  boot_id: z.string(),
  socket: z.string().optional(),
});

export const manifestSchema = z.looseObject({
  version: z.literal(2),
  instance_id: z.string(),
  container_base: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  workspace_name: z.string().nullable(),
  workspace_label: z.string(),
  workdir: z.string(),
  host_workdir_fingerprint: z.string(),
  role_key: z.string(),
  role_display_name: z.string(),
  agent_runtime: z.string(),
  role_source_git: z.string().nullish(),
  role_source_ref: z.string().nullish(),
  image_tag: z.string(),
  status: z.enum(STATUSES),
  last_attach_outcome: z.string().nullish(),
  docker: z.looseObject({
    role_container: z.string(),
    dind_container: z.string().nullish(),
    network: z.string(),
    certs_volume: z.string().nullish(),
  }),
  backend: z.looseObject({ standalone: standaloneBackendSchema.nullish() }).optional(),
  sessions: z.array(sessionSchema).default([]),
  role_git_sha: z.string().nullish(),
  base_image_ref: z.string().nullish(),
  base_image_digest: z.string().nullish(),
  supported_agents: z.array(z.string()).default([]),
  recipe: recipeSchema.optional(),
  engine: z
    .looseObject({ endpoint: z.string(), id: z.string().nullish(), run: z.string().nullish() })
    .optional(),
  exit_cause: exitCauseSchema.optional(),
  keep: keepSchema.optional(),
  image_id: z.string().optional(),
  /** The writable layer that went with the container we removed last; absent while there is a container. */
  removed_layer: z.looseObject({ changed_paths: z.number().int().nonnegative(), at: z.string() }).optional(),
  /** Our own pending or last stop request; the capsule's exit record must repeat the nonce. */
  stop_request: z.looseObject({ nonce: z.string(), at: z.string() }).optional(),
  resume: z
    .record(
      z.string(),
      z.looseObject({ token: z.string(), cwd: z.string(), captured_at: z.string(), source: z.string() }),
    )
    .optional(),
  last_seen: z.looseObject({ at: z.string(), boot_id: z.string() }).optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestSession = z.infer<typeof sessionSchema>;
