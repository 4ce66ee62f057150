import type { Operation } from '../types.ts';

/** A submodule of the commit that is checked out in a source. */
export interface SubmoduleFact {
  path: string;
  name: string;
  /** As `.gitmodules` has it. */
  url: string | null;
  /** The commit the repository records for it; null when it records none. */
  commit: string | null;
  /** It has a repository of its own here. */
  initialised: boolean;
}

/** A branch in our name space that is there already. */
export interface ScratchBranch {
  /** Short: `jackin/scratch/<container>`. */
  name: string;
  commit: string;
  /** The working tree that has it checked out. */
  checked_out: string | null;
  /** There are commits on it that HEAD does not have. */
  own_commits: boolean;
}

export type OriginFact =
  | { state: 'none' }
  /** With credentials stripped. */
  | { state: 'url'; url: string }
  | { state: 'unreadable'; reason: string };

/** What a source is, before anything is made of it. Nothing is decided here (docs/isolation.md#sources). */
export interface SourceFacts {
  /** Canonical, as far as there is something. */
  src: string;
  /** Null when it belongs to no repository. */
  top_level: string | null;
  git_dir: string | null;
  common_dir: string | null;
  bare: boolean;
  /** There is no commit yet. */
  unborn: boolean;
  /** The commit that is checked out. */
  head: string | null;
  /** Full: `refs/heads/main`; null when HEAD is detached. */
  branch: string | null;
  operation: Operation | null;
  dirty: 'yes' | 'no' | 'unknown';
  dirty_files: number;
  /** Why it is `unknown`. */
  dirty_reason: string | null;
  origin: OriginFact;
  submodules: SubmoduleFact[];
  lfs: { used: boolean; available: boolean };
  object_format: 'sha1' | 'sha256';
  /** Objects are fetched when they are needed. */
  partial: boolean;
  /** Only a part of the files is checked out. */
  sparse: boolean;
  /** Filters of the repository's own configuration, which no git of ours runs. */
  filters: string[];
  /** A file or directory of the repository that is a link although a container must not write it; null: none is. */
  linked: string | null;
  /** Branches at or below `jackin/`, which a new branch must not collide with. */
  scratch: ScratchBranch[];
  /** What could not be looked at; null when everything could. */
  problem: string | null;
}
