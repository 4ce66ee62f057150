import type { RepositoryGit } from './repository-git.ts';

/**
 * The object a ref names, by one git that looks at refs only; null when there is none of exactly this name.
 * @param ref full; it may also be the name of a directory of refs
 * @throws JackinError `GIT_FAILED`
 */
export async function refTip(git: RepositoryGit, ref: string): Promise<string | null> {
  const listed = await git.must(['for-each-ref', '--format=%(objectname) %(refname)', ref]);
  const lines = listed.toString('utf8').split('\n');
  const found = lines.find((line) => line.endsWith(` ${ref}`));
  return found?.slice(0, found.indexOf(' ')) ?? null;
}
