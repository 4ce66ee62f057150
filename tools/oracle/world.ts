import type { PlainGit } from './plain-git.ts';
import type { Random } from './random.ts';

export type TreeKind = 'worktree' | 'clone';

/** The tree of a session, and what was written down when it was made. */
export interface SessionTree {
  path: string;
  kind: TreeKind;
  /** The operator's repository, which the tree was made of. */
  host: string;
  /** Its git directory. */
  commonDir: string;
  base: string;
  /** Full ref name to object, without remote-tracking refs. */
  refsAtLaunch: Readonly<Record<string, string>>;
  /** Short name of the branch made for the tree; null in a clone. */
  scratchBranch: string | null;
}

/** What only the one who made the history knows. */
export interface Truth {
  /** Commits that reached the remote in another form: squashed or rebased. */
  landed: Set<string>;
  /** Commits made anew from others without a change of content of their own. */
  rewritten: { from: string[]; to: string[] }[];
  /** Blobs of a file both sides changed: what landed is the merged file, not this one. */
  mergedBlobs: Set<string>;
  /** Directory names below which nothing counts, unless git tracks it: ignored, and dependencies. */
  ignoredDirectories: Set<string>;
  /** Ends of names of ignored files. */
  ignoredSuffixes: Set<string>;
  /** Directories of dependencies: a repository in there does not count either. */
  dependencyDirectories: ReadonlySet<string>;
}

/** Refs the session made or moved with its HEAD on them; names are bytes. */
export interface SessionRefs {
  branches: Set<string>;
  tags: Set<string>;
  stashes: Set<string>;
}

export interface World {
  root: string;
  random: Random;
  git: PlainGit;
  remote: string;
  /** Another remote outside of the tree, once there is one. */
  mirror: string | null;
  /** The remote of the submodule; null in a repository without. */
  library: string | null;
  tree: SessionTree;
  session: SessionRefs;
  truth: Truth;
  /** Remote-tracking refs of these prove nothing: the remote is in the tree. */
  insideRemotes: Set<string>;
  /** In order, as they were taken. */
  steps: string[];
}

/** The one file that both sides change without a conflict: the session at its top, others at its bottom. */
export const SHARED_FILE = 'shared.txt';
export const CONFLICT_FILE = 'conflict.txt';
export const SUBMODULE = 'lib';
/** As the .gitignore of every ground says. */
export const IGNORED_DIRECTORIES = ['scratch', 'node_modules', '.venv', 'target'];

/** A git in the tree, as the agent runs it. */
export function agent(
  world: World,
  args: readonly string[],
  input?: string | Buffer,
): { ok: boolean; out: string } {
  return world.git(world.tree.path, args, input === undefined ? {} : { input });
}

/** A name in bytes as an argument. */
export function argument(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Whether a name in bytes can be an argument at all. */
export function canBeArgument(bytes: string): boolean {
  return Buffer.from(argument(bytes), 'utf8').toString('latin1') === bytes;
}
