import { line, type RepositoryGit, records } from './repository-git.ts';
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

/** The branches at or below `jackin`, and whether they have commits that `base` does not. */
export async function scratchBranches(git: RepositoryGit, base: string): Promise<ScratchBranch[]> {
  const under = 'refs/heads/jackin';
  // A path may hold a newline, so NUL ends each field and the newline each record begins with is dropped.
  const format = '--format=%(refname)%00%(objectname)%00%(worktreepath)%00';
  const fields = records(await git.must(['for-each-ref', format, under]));
  if (fields.length === 0) return [];
  const contained = line(await git.must(['for-each-ref', `--merged=${base}`, '--format=%(refname)', under]));
  const merged = new Set(contained.split('\n'));
  const branches: ScratchBranch[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [first = '', commit = '', worktree = ''] = fields.slice(at, at + 3);
    const ref = first.replace(/^\n/, '');
    branches.push({
      name: ref.slice('refs/heads/'.length),
      commit,
      checked_out: worktree === '' ? null : worktree,
      own_commits: !merged.has(ref),
    });
  }
  return branches;
}
