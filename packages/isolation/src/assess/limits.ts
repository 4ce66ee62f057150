/** How far an assessment goes before it says `unknown` (docs/isolation.md#what-cannot-be-seen). */
export interface AssessLimits {
  /** Milliseconds one git process may take. */
  callMs: number;
  /** Milliseconds all git processes of one tree may take together. */
  totalMs: number;
  /** Milliseconds one walk of a directory may take. */
  walkMs: number;
  /** Entries one walk may meet. */
  entries: number;
  /** Directories below each other. */
  depth: number;
  indexBytes: number;
  /** Of any other file of git. */
  fileBytes: number;
  refs: number;
  /** Commits that are nowhere else. */
  commits: number;
  /** Commits of a remote that are compared with those that are nowhere else. */
  remoteCommits: number;
  /** Repositories inside of one tree. */
  nested: number;
  /** Repositories inside of each other. */
  nestedDepth: number;
  /** What one git process may write. */
  outputBytes: number;
}

export const DEFAULT_LIMITS: AssessLimits = {
  callMs: 30_000,
  totalMs: 60_000,
  walkMs: 20_000,
  entries: 2_000_000,
  depth: 100,
  indexBytes: 256 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  refs: 200_000,
  commits: 100_000,
  remoteCommits: 2_000,
  nested: 200,
  nestedDepth: 8,
  outputBytes: 256 * 1024 * 1024,
};
