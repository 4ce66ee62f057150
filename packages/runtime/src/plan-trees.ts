import type { MaterialisePlan } from '@jackin/isolation';
import * as z from 'zod';

const submodule = z.object({
  path: z.string(),
  name: z.string(),
  url: z.string().nullable(),
  commit: z.string().nullable(),
  initialised: z.boolean(),
});

/** A worktree or clone that is going to be made, as a plan holds it. */
export const materialisePlanSchema: z.ZodType<MaterialisePlan> = z.object({
  kind: z.enum(['worktree', 'clone']),
  src: z.string(),
  dst: z.string(),
  tree: z.string(),
  container: z.string(),
  workspace: z.string(),
  selector_key: z.string(),
  git_dir: z.string(),
  common_dir: z.string(),
  object_format: z.enum(['sha1', 'sha256']),
  base_commit: z.string(),
  host_branch: z.string().nullable(),
  scratch: z.object({ name: z.string(), adopt: z.string().nullable() }).nullable(),
  origin: z.string().nullable(),
  submodules: z.array(submodule),
  lfs: z.enum(['none', 'files', 'pointers']),
  filters: z.array(z.string()),
  notices: z.array(z.string()),
});
