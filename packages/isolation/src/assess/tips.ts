import type { Repository } from './git-directory.ts';
import { text } from './names.ts';
import { type HeadHistory, type StashEntry, stashedOn } from './reflog.ts';
import { PER_WORKTREE, type Refs } from './refs.ts';
import { isOwnRootRef } from './root-refs.ts';

export interface Tip {
  /** Full name, bytes as latin1. */
  name: string;
  id: string;
  /** May be a tag object: counts only if its commit is one where this HEAD has been. */
  onlyIfVisited?: true;
  /** Were it an annotated tag, its own text would have to be elsewhere, too. */
  textCounts?: true;
}

export interface TipFacts {
  repository: Repository;
  refs: Refs;
  stash: readonly StashEntry[];
  /** Remote-tracking refs that prove that a commit is elsewhere; any other is only a name for it. */
  trusted: ReadonlySet<string>;
  /** Null: not known, and everything counts. */
  refsAtLaunch: Readonly<Record<string, string>> | null;
  history: HeadHistory | null;
  /** Short name of the branch the tree was made on. */
  scratchBranch: string | null;
}

/**
 * The refs and stash entries whose commits would be lost with this tree (docs/isolation.md#verdicts): new or moved
 * since launch, and of a linked worktree only its own.
 */
export function tipsThatCount(facts: TipFacts): { refs: Tip[]; stash: StashEntry[] } {
  const { refs, refsAtLaunch } = facts;
  const launch = refsAtLaunch ?? {};
  const stashAtLaunch = new Set(
    Object.keys(launch).flatMap((name) => (name.startsWith('stash@{') ? [launch[name]] : [])),
  );
  const counted = [...refs.all]
    .filter(
      ([name]) => name !== 'refs/stash' && (!name.startsWith('refs/remotes/') || countsAsRef(facts, name)),
    )
    .filter(
      ([name, id]) =>
        refsAtLaunch === null || !Object.hasOwn(launch, text(name)) || launch[text(name)] !== id,
    )
    .flatMap(([name, id]): Tip[] => {
      const ours = isOurs(facts, name, id);
      if (ours === 'no') return [];
      const text = mayBeOnlyText(facts, name) ? ({ textCounts: true } as const) : {};
      return [{ name, id, ...(ours === 'yes' ? {} : { onlyIfVisited: true }), ...text }];
    });
  const stash = facts.stash.filter(({ commit }) => !stashAtLaunch.has(commit));
  return { refs: counted, stash: stash.filter(({ message }) => isOurStash(facts, message)) };
}

/** Of a linked worktree they are the repository's, which stays. */
function countsAsRef({ repository, trusted }: TipFacts, name: string): boolean {
  return repository.gitDir === repository.commonDir && !trusted.has(name);
}

/** Commits that were there at launch, whatever has become of their refs. */
export function commitsAtLaunch(refsAtLaunch: TipFacts['refsAtLaunch']): string[] {
  const ids = Object.values(refsAtLaunch ?? {});
  return [...new Set(ids.filter((id) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)))];
}

/**
 * Whether an annotated tag of this name may be nowhere else. Without a record of the launch those below `refs/tags` are
 * taken for fetched ones: git does not note where they are from.
 */
function mayBeOnlyText({ repository, refsAtLaunch }: TipFacts, name: string): boolean {
  if (repository.gitDir !== repository.commonDir && !isOwnRef(name)) return false;
  return (
    !/^refs\/(?:heads|remotes)\/|\/HEAD$/.test(name) && (refsAtLaunch !== null || !name.startsWith('refs/'))
  );
}

/** Of a linked worktree: lies in its own git directory. */
export function isOwnRef(name: string): boolean {
  return PER_WORKTREE.test(name) || isOwnRootRef(name);
}

/** Read from a file that may be somebody's data: of no object it is no ref. */
export function isBesideRefs(name: string): boolean {
  return !/^(?:refs|worktrees)\//.test(name);
}

type Ours = 'yes' | 'no' | 'if visited';

function isOurs({ repository, refs, history, scratchBranch }: TipFacts, name: string, id: string): Ours {
  if (repository.gitDir === repository.commonDir || history === null) return 'yes';
  if (name === refs.head.ref || text(name) === `refs/heads/${scratchBranch}`) return 'yes';
  if (isOwnRef(name) || history.commits.has(id)) return 'yes';
  return name.startsWith('refs/heads/') ? 'no' : 'if visited';
}

function isOurStash({ repository, refs, history, scratchBranch }: TipFacts, message: string): boolean {
  if (repository.gitDir === repository.commonDir || history === null) return true;
  const branch = stashedOn(message);
  if (branch === null || branch === scratchBranch || history.branches.has(branch)) return true;
  return refs.head.ref !== null && text(refs.head.ref) === `refs/heads/${branch}`;
}
