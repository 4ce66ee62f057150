/** What a tree holds: `unknown` whenever somebody could not look, and unknown is kept (docs/isolation.md#verdicts). */
export type Verdict = 'clean' | 'dirty' | 'unpushed' | 'unknown';

/** A name git knows only as bytes. Where `path` is lossy, `path_base64` has the bytes. */
export interface FileName {
  path: string;
  path_is_lossy: boolean;
  path_base64?: string;
}

/** One entry git status would print, or one it was told to hide. */
export interface FileEvidence extends FileName {
  /** Two letters as in `git status --short`, `??` for what git does not know. */
  status: string;
  /** Of a rename or copy. */
  orig_path?: string;
  orig_path_is_lossy?: boolean;
  orig_path_base64?: string;
  /** Only the permission bits differ. */
  mode_only?: true;
  /**
   * Git does not see that its content differs: the index was told not to look at it, or its size and times are what git
   * noted of it.
   */
  hidden?: 'skip_worktree' | 'assume_unchanged' | 'file_times';
}

export interface Landed {
  /** `tree`: a remote commit has the same files; `patch`: the range, or each commit of it, is on a remote as a patch. */
  how: 'tree' | 'patch';
  /** The remote commit, or the last of them. */
  commit: string;
}

/** A ref of this tree with commits that are on no remote. */
export interface BranchEvidence {
  /** Short for a branch (`main`), full for anything else (`refs/tags/v1`). */
  name: string;
  /** Not below `refs/`: a file of the git directory (`MY_WORK`), or of another worktree (`worktrees/<name>/HEAD`). */
  outside_refs?: true;
  commit: string;
  /**
   * What is nowhere else is no commit but this object, whose id `commit` is: a tag's own text, or what somebody gave a
   * name. `ahead` is 0 then.
   */
  object?: 'tag' | 'tree' | 'blob';
  /** Commits on it that no remote-tracking ref reaches and that were not there at launch. */
  ahead: number;
  /** As configured, e.g. `origin/main`; null without one. */
  upstream: string | null;
  /** The upstream was there once and is gone: proves nothing. */
  upstream_gone?: true;
  /** All of it is proven to be on a remote in another form, so it does not count. */
  landed?: Landed;
}

export interface HeadEvidence {
  /** Null before the first commit. */
  commit: string | null;
  /** Short branch name; null when detached. */
  branch: string | null;
  /** Detached, with commits no ref and no remote reaches. */
  ahead: number;
  landed?: Landed;
  /** The branch this tree was made on, when it is not where HEAD is (after an amend on a detached HEAD, say). */
  differs_from?: { branch: string; commit: string };
}

export interface StashEvidence {
  commit: string;
  message: string;
}

export type Operation = 'rebase' | 'am' | 'merge' | 'cherry-pick' | 'revert' | 'bisect';

/** A repository inside the tree, assessed like the tree itself. */
export interface NestedEvidence extends FileName {
  kind: 'submodule' | 'repository' | 'worktree' | 'gitlink';
  /** Outside of the tree, in the home of the session: `path` is the whole path. */
  stray?: true;
  verdict: Verdict;
  reason: string;
  /** Null where it could not be assessed. */
  evidence: Evidence | null;
}

/** Information only: what git ignores gates nothing, but goes with the tree. */
export interface IgnoredEvidence {
  /** Files outside of dependency and build directories. */
  count: number;
  bytes: number;
  largest: (FileName & { bytes: number }) | null;
  /** By name, the first ones; `count` says how many there are. */
  files: FileName[];
  /** Dependency and build directories, which are not entered. */
  directories: FileName[];
}

/** Everything that was found, complete; whoever shows it cuts it and says how much was cut. */
export interface Evidence {
  files: FileEvidence[];
  head: HeadEvidence;
  branches: BranchEvidence[];
  stashes: StashEvidence[];
  in_progress: Operation[];
  nested: NestedEvidence[];
  ignored: IgnoredEvidence;
  /** A lock a git left or holds: it hinders git, not the assessment. */
  index_lock?: { age_ms: number };
}

export interface Assessment {
  /** The canonical path of the tree. */
  path: string;
  kind: 'repository' | 'worktree' | 'clone' | 'submodule';
  verdict: Verdict;
  /** One line: why it is not clean, or what makes it clean. */
  reason: string;
  /** Null where nothing could be looked at. What was found before a doubt arose is there. */
  evidence: Evidence | null;
  /** Two assessments with the same fingerprint found the same; it changes with any file, commit or name in the evidence. */
  fingerprint: string;
  /** How many git processes ran, those of nested repositories apart. */
  git_processes: number;
}

/** The same place under another name: inside of a container. */
export interface PathView {
  inside: string;
  host: string;
}

/** What the host's repository has become since a tree was made of it (docs/isolation.md#divergence). */
export type Divergence =
  | { state: 'unchanged' }
  | { state: 'ahead'; commits: number }
  | { state: 'rewritten'; base: string; branch: string; commit: string | null }
  | { state: 'branch_elsewhere'; branch: string; worktree: string }
  /** `git worktree repair` mends it. */
  | { state: 'registration_missing'; repairable: true; reason: string }
  | { state: 'source_missing'; source: string; reason: string }
  | { state: 'tree_missing'; path: string; branch: string | null; commit: string | null }
  | { state: 'unknown'; reason: string };
