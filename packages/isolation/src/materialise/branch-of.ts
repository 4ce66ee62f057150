import { join } from 'node:path';
import type { Registration } from './registration.ts';
import type { RepositoryGit } from './repository-git.ts';

/** Where our branch is, and which tree has it checked out: another one if there is any, else ours. */
export async function branchOf(
  git: RepositoryGit,
  name: string,
  own: Pick<Registration, 'points_to'> | null,
  tree: string,
): Promise<{ commit: string; checked_out: string | null } | null> {
  if (name === '') return null;
  const ref = `refs/heads/${name}`;
  const listed = (await git.must(['for-each-ref', '--format=%(objectname) %(refname)', ref])).toString(
    'utf8',
  );
  // The name may also be that of a directory of refs.
  const found = listed.split('\n').find((line) => line.endsWith(` ${ref}`));
  if (found === undefined) return null;
  const trees = checkedOut(await git.must(['worktree', 'list', '--porcelain', '-z']), ref);
  const other = trees.find((path) => path !== tree && join(path, '.git') !== own?.points_to);
  const checked_out = other ?? (trees.length > 0 ? tree : null);
  return { commit: found.slice(0, found.indexOf(' ')), checked_out };
}

/** The trees that have this ref checked out; git lets somebody who insists do so more than once. */
function checkedOut(listing: Buffer, ref: string): string[] {
  return listing
    .toString('utf8')
    .split('\0\0')
    .flatMap((entry) => {
      const fields = entry.split('\0');
      const path = fields.find((field) => field.startsWith('worktree '))?.slice('worktree '.length);
      return path !== undefined && fields.includes(`branch ${ref}`) ? [path] : [];
    });
}
