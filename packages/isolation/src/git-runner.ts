import { type GitOptions, hardenedGit, type RunResult } from '@jackin/core';

/** One git process: how it is counted, and how a test makes it fail. */
export type GitRunner = (args: readonly string[], options: GitOptions) => Promise<RunResult>;

export interface CountedGit {
  run: GitRunner;
  /** How many processes it has run. */
  count(): number;
}

/** Every git process of this package goes through one of these. */
export function countedGit(runner: GitRunner = hardenedGit): CountedGit {
  let processes = 0;
  return {
    run: (args, options) => {
      processes += 1;
      return runner(args, options);
    },
    count: () => processes,
  };
}
