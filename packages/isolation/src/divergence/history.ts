import { gitWords, succeeded } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { refTip } from '../materialise/ref-tip.ts';
import { isObjectId, line, type RepositoryGit } from '../materialise/repository-git.ts';
import { SCRATCH_PREFIX } from '../materialise/scratch-branch.ts';
import type { HistoryFact } from './decide-divergence.ts';

/**
 * What became of the base commit on the host: on the branch the host was on at launch, and where that is gone or not
 * recorded, on what it has checked out now, or else on any branch of its own.
 */
export async function historyOf(record: IsolationRecord, git: RepositoryGit): Promise<HistoryFact> {
  const { base_commit: base, host_branch: recorded } = record;
  const tip = recorded === undefined ? null : await refTip(git, `refs/heads/${recorded}`);
  const branch = recorded ?? 'HEAD';
  if (tip !== null) return { base, branch, commit: tip, ...(await compare(git, base, tip)) };
  const head = line((await git.run(['rev-parse', '--verify', '-q', 'HEAD^{commit}'])).stdout);
  const seen = isObjectId(head) ? await compare(git, base, head) : null;
  const commit = recorded === undefined && isObjectId(head) ? head : null;
  if (seen?.contains_base === 'yes') return { base, branch, commit, ...seen };
  const holders = await branchesWith(git, base);
  if (holders === null)
    return { base, branch, commit, contains_base: seen?.contains_base ?? 'unknown', ahead: 0 };
  return { base, branch, commit, contains_base: holders.length > 0 ? 'yes' : 'no', ahead: 0 };
}

async function compare(
  git: RepositoryGit,
  base: string,
  tip: string,
): Promise<Pick<HistoryFact, 'contains_base' | 'ahead'>> {
  const counted = await git.run(['rev-list', '--count', '--left-right', `${base}...${tip}`, '--']);
  const counts = /^(\d+)\t(\d+)$/.exec(line(counted.stdout));
  if (succeeded(counted) && counts !== null) {
    return { contains_base: counts[1] === '0' ? 'yes' : 'no', ahead: Number(counts[2]) };
  }
  return { contains_base: (await isGone(git, base)) ? 'no' : 'unknown', ahead: 0 };
}

/** The commit is provably not in the repository. */
async function isGone(git: RepositoryGit, commit: string): Promise<boolean> {
  const asked = await git.run(['cat-file', '--batch-check'], { input: Buffer.from(`${commit}\n`) });
  return succeeded(asked) && line(asked.stdout) === `${commit} missing`;
}

/** The host's own branches that contain a commit; null when that cannot be told. */
async function branchesWith(git: RepositoryGit, commit: string): Promise<string[] | null> {
  const listed = await git.run(['for-each-ref', '--format=%(refname)', `--contains=${commit}`, 'refs/heads']);
  if (!succeeded(listed)) return /no such commit|malformed object/.test(gitWords(listed)) ? [] : null;
  return line(listed.stdout)
    .split('\n')
    .filter((ref) => ref !== '' && !ref.startsWith(`refs/heads/${SCRATCH_PREFIX}`));
}
