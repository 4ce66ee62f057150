import { JackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { refTip } from '../materialise/ref-tip.ts';
import { type GitContext, isObjectId, repositoryGit } from '../materialise/repository-git.ts';

/**
 * Where the branch made for a worktree is, read by one git that looks at refs only.
 * @returns null for a clone, for a branch that is not there, and where it cannot be seen
 */
export async function scratchTip(record: IsolationRecord, context: GitContext = {}): Promise<string | null> {
  const { isolation, git_common_dir: common, scratch_branch: name } = record;
  if (isolation !== 'worktree' || common === undefined || name === '') return null;
  const git = repositoryGit(common, context, [record.original_src]);
  const commit = await refTip(git, `refs/heads/${name}`).catch((error: unknown) => {
    if (error instanceof JackinError && error.code === 'GIT_FAILED') return null;
    throw error;
  });
  return commit !== null && isObjectId(commit) ? commit : null;
}
