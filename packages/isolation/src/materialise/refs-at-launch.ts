import { line, type RepositoryGit } from './repository-git.ts';

/**
 * Every ref but the remote-tracking ones with the object it names, stash entries as `stash@{n}`: what is new or moved
 * at the exit is told by it.
 */
export async function refsAtLaunch(git: RepositoryGit): Promise<Record<string, string>> {
  const listed = line(await git.must(['for-each-ref', '--format=%(objectname) %(refname)']));
  const refs: Record<string, string> = {};
  for (const entry of listed.split('\n')) {
    const [commit = '', ref = ''] = entry.split(' ');
    if (ref.startsWith('refs/') && !ref.startsWith('refs/remotes/')) refs[ref] = commit;
  }
  if (refs['refs/stash'] === undefined) return refs;
  const stash = line(await git.must(['rev-list', '--walk-reflogs', 'refs/stash', '--']));
  for (const [number, commit] of stash.split('\n').entries()) {
    if (commit !== '') refs[`stash@{${number}}`] = commit;
  }
  return refs;
}
