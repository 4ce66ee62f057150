import * as z from 'zod';
import { STATUSES } from './status.ts';

export const indexRowSchema = z.looseObject({
  instance_id: z.string(),
  container_base: z.string(),
  workspace_name: z.string().nullable(),
  workspace_label: z.string(),
  workdir: z.string(),
  role_key: z.string(),
  agent_runtime: z.string(),
  status: z.enum(STATUSES),
  updated_at: z.string(),
  /** Where it lives: what is left of it is looked for there when its directory is gone. Older rows lack both. */
  backend: z.enum(['docker', 'standalone']).optional(),
  engine: z.looseObject({ endpoint: z.string(), id: z.string().nullish() }).optional(),
});
export type IndexRow = z.infer<typeof indexRowSchema>;

/** `instances.json`: an accelerator, newest first. The manifests win. */
export const indexFileSchema = z.looseObject({ version: z.literal(1), instances: z.array(indexRowSchema) });
export type IndexFile = z.infer<typeof indexFileSchema>;
