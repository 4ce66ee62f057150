import { type GitOptions, gitWords, hardenedGit, JackinError, type RunResult, succeeded } from '@jackin/core';
import type { GitRunner } from '../git-runner.ts';
import { refuseRedirection } from './source-directory.ts';

/** What every function here that runs git takes. */
export interface GitContext {
  /** How git is run; default: the hardened one of core. */
  git?: GitRunner | undefined;
  /** Default: the environment of this process. */
  env?: NodeJS.ProcessEnv | undefined;
  signal?: AbortSignal | undefined;
}

/** Git on one repository, with this package's bounds. */
export interface RepositoryGit {
  readonly gitDir: string;
  /** @throws JackinError `GIT_DIRECTORY_REDIRECTED`, and what running git throws */
  run(args: readonly string[], more?: Partial<GitOptions>): Promise<RunResult>;
  /** As `run`; whatever is not a success is an error. @throws JackinError `GIT_FAILED` */
  must(args: readonly string[], more?: Partial<GitOptions>): Promise<Buffer>;
}

/** Looking at things. */
const LOOK_MS = 60_000;
/** Writing the files of a tree: large repositories and large files fetched by a filter. */
export const CHECKOUT_MS = 15 * 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** @param trusted directories of other users that git may use all the same, besides the repository itself */
export function repositoryGit(
  gitDir: string,
  context: GitContext,
  trusted: readonly string[] = [],
): RepositoryGit {
  const runner = context.git ?? hardenedGit;
  const run: RepositoryGit['run'] = async (args, more = {}) => {
    await refuseRedirection(gitDir);
    return await runner(args, {
      gitDir,
      timeoutMs: LOOK_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      env: context.env,
      signal: context.signal,
      trusted: [gitDir, ...trusted],
      ...more,
    });
  };
  return {
    gitDir,
    run,
    async must(args, more) {
      const result = await run(args, more);
      if (succeeded(result)) return result.stdout;
      throw new JackinError({
        code: 'GIT_FAILED',
        message: `git ${args[0]} failed in ${JSON.stringify(gitDir)}: ${gitWords(result)}`,
        hint: `Look at the repository with: git --git-dir=${JSON.stringify(gitDir)} fsck`,
        details: { git_dir: gitDir, command: args[0] ?? '' },
      });
    },
  };
}

/** The one line a command prints; names of refs and object ids only. */
export function line(output: Buffer): string {
  return output.toString('utf8').trimEnd();
}

/** The records of an output with `-z`. */
export function records(output: Buffer): string[] {
  return output.toString('utf8').split('\0').slice(0, -1);
}

export function isObjectId(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}
