import { succeeded } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';

/**
 * Where the branch made for a worktree is, read by one git that looks at refs only.
 * @returns null for a clone, for a branch that is not there, and where it cannot be seen
 */
export async function scratchTip(record: IsolationRecord, context: GitContext = {}): Promise<string | null> {
  const { isolation, git_common_dir: common, scratch_branch: name } = record;
  if (isolation !== 'worktree' || common === undefined || name === '') return null;
  const ref = `refs/heads/${name}`;
  const git = repositoryGit(common, context, [record.original_src]);
  const listed = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', ref]);
  if (!succeeded(listed)) return null;
  const found = listed.stdout
    .toString('utf8')
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`));
  const commit = found?.slice(0, found.indexOf(' ')) ?? '';
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : null;
}
