import * as z from 'zod';

export const isolationRecordSchema = z.looseObject({
  workspace: z.string(),
  mount_dst: z.string(),
  original_src: z.string(),
  isolation: z.enum(['worktree', 'clone']),
  worktree_path: z.string(),
  scratch_branch: z.string(),
  base_commit: z.string(),
  selector_key: z.string(),
  container_name: z.string(),
  cleanup_status: z.enum(['active', 'preserved_dirty', 'preserved_unpushed']),
  refs_at_launch: z.record(z.string(), z.string()).optional(),
  git_common_dir: z.string().optional(),
  /** Short name of what the host had checked out; absent when detached. */
  host_branch: z.string().optional(),
  /** The tree has pointers instead of the files git-lfs keeps. */
  lfs_skipped: z.boolean().optional(),
  /** Being made, or left half made by a launch that was killed: no agent has ever worked in it. */
  making: z.boolean().optional(),
  /** A worktree's name in the `worktrees/` of its repository. */
  registration: z.string().optional(),
  /** Settings of its repository that may run programs, as they were when it was made: `key digest`. */
  settings_at_launch: z.array(z.string()).optional(),
  /** In the repository's directory, what a container may not write; relative. */
  protected_paths: z.array(z.string()).optional(),
  /** Of these, the empty ones that were made so that a container cannot. */
  placed_paths: z.array(z.string()).optional(),
});
export type IsolationRecord = z.infer<typeof isolationRecordSchema>;

/** `isolation.json`: one record per worktree or clone mount; shared mounts are not recorded. */
export const isolationFileSchema = z.looseObject({
  version: z.literal(1),
  records: z.array(isolationRecordSchema),
});
export type IsolationFile = z.infer<typeof isolationFileSchema>;
