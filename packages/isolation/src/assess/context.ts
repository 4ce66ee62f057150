import type { GitRunner } from '../git-runner.ts';
import type { PathView } from '../types.ts';
import type { AssessLimits } from './limits.ts';

export interface AssessOptions {
  /** Commit the tree started from; null or absent: remote-tracking refs alone are the reference. */
  base?: string | null;
  /** Full ref name to object id at launch, stash entries as `stash@{n}`. Null or absent: not known, all of them count. */
  refsAtLaunch?: Readonly<Record<string, string>> | null;
  /** Identity that must hold, from the record; otherwise the verdict is unknown. */
  expected?: {
    kind: 'worktree' | 'clone';
    /** Of the repository a worktree belongs to. */
    commonDir?: string | null;
    /** Short name of the branch the tree was made on. */
    scratchBranch?: string | null;
    /** A directory above the tree: no part of the path below it may be a link. */
    root?: string | null;
  };
  /** Names of this place inside a container; git files written there use them. */
  views?: readonly PathView[];
  git?: GitRunner;
  limits?: Partial<AssessLimits>;
  signal?: AbortSignal;
  env?: NodeJS.ProcessEnv;
  /** The tree was checked out without LFS contents: its pointer files are what was committed. */
  lfsSkipped?: boolean;
}

/** What one assessment and those of the repositories inside of it share. */
export interface Context {
  views: readonly PathView[];
  git: GitRunner | undefined;
  limits: AssessLimits;
  signal: AbortSignal | undefined;
  env: NodeJS.ProcessEnv | undefined;
  lfsSkipped: boolean;
  /** The data directory of the instance whose tree is assessed; null for any other tree, and for what lies inside of one. */
  root: string | null;
  /** Canonical directories that go with the outermost tree. */
  within: readonly string[];
  /** Others that go with the session: what is there is nowhere else. */
  session: readonly string[];
  depth: number;
  /** How many repositories may still be assessed; shared. */
  left: { nested: number };
}

/** What is known of where a tree came from. */
export interface Reference {
  base: string | null;
  refsAtLaunch: Readonly<Record<string, string>> | null;
  scratchBranch: string | null;
}

export const NO_REFERENCE: Reference = { base: null, refsAtLaunch: null, scratchBranch: null };
