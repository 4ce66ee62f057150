import { checkouts } from './branch-of.ts';
import { line, type RepositoryGit } from './repository-git.ts';
import type { ScratchBranch } from './source-facts.ts';

export const SCRATCH_PREFIX = 'jackin/scratch/';
const LIMIT = 99;

export type ScratchChoice =
  /** `adopt` is where a branch of this name is now; null when it is made. */
  { state: 'chosen'; name: string; adopt: string | null; passed: string[] } | { state: 'taken'; by: string };

/**
 * The branch of a new worktree: `jackin/scratch/<container>`. One that is left from before is adopted, that is moved
 * to the base, when it is checked out nowhere and has no commit of its own; otherwise it stays and the next free
 * number is taken (docs/isolation.md#worktree).
 */
export function chooseScratch(container: string, existing: readonly ScratchBranch[]): ScratchChoice {
  const blocking = existing.find(({ name }) => name === 'jackin' || name === 'jackin/scratch');
  if (blocking !== undefined) return { state: 'taken', by: blocking.name };
  const passed: string[] = [];
  for (let number = 1; number <= LIMIT; number += 1) {
    const name = `${SCRATCH_PREFIX}${container}${number === 1 ? '' : `-${number}`}`;
    if (existing.some((branch) => branch.name.startsWith(`${name}/`))) {
      passed.push(name);
      continue;
    }
    const present = existing.find((branch) => branch.name === name);
    if (present === undefined) return { state: 'chosen', name, adopt: null, passed };
    if (present.checked_out === null && !present.own_commits) {
      return { state: 'chosen', name, adopt: present.commit, passed };
    }
    passed.push(name);
  }
  return { state: 'taken', by: `${SCRATCH_PREFIX}${container}` };
}

/**
 * The branches at or below `jackin`, and whether they have commits that `base` does not.
 * @param commonDir of the same repository
 */
export async function scratchBranches(
  git: RepositoryGit,
  base: string,
  commonDir: string,
): Promise<ScratchBranch[]> {
  const under = 'refs/heads/jackin';
  const listed = line(await git.must(['for-each-ref', '--format=%(objectname) %(refname)', under]));
  if (listed === '') return [];
  const contained = line(await git.must(['for-each-ref', `--merged=${base}`, '--format=%(refname)', under]));
  const merged = new Set(contained.split('\n'));
  const trees = new Map((await checkouts(commonDir)).map(({ ref, tree }) => [ref, tree]));
  return listed.split('\n').map((entry) => {
    const [commit = '', ref = ''] = entry.split(' ');
    return {
      name: ref.slice('refs/heads/'.length),
      commit,
      checked_out: trees.get(ref) ?? null,
      own_commits: !merged.has(ref),
    };
  });
}
