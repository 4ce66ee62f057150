import { join } from 'node:path';
import type { Registration } from './registration.ts';
import { type RepositoryGit, records } from './repository-git.ts';

/** Where our branch is, and which other tree has it checked out. */
export async function branchOf(
  git: RepositoryGit,
  name: string,
  own: Pick<Registration, 'points_to'> | null,
  tree: string,
): Promise<{ commit: string; checked_out: string | null } | null> {
  if (name === '') return null;
  const ref = `refs/heads/${name}`;
  const format = '--format=%(refname)%00%(objectname)%00%(worktreepath)%00';
  const fields = records(await git.must(['for-each-ref', format, ref]));
  const at = fields.findIndex((field, index) => index % 3 === 0 && field.replace(/^\n/, '') === ref);
  const commit = fields[at + 1];
  if (at === -1 || commit === undefined) return null;
  const worktree = fields[at + 2] ?? '';
  const ours = worktree === '' || (own?.points_to ?? null) === join(worktree, '.git');
  return { commit, checked_out: worktree === '' ? null : ours ? tree : worktree };
}
