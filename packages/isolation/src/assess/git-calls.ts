import { type GitOptions, gitWords, type RunResult, succeeded } from '@jackin/core';
import type { CountedGit } from '../git-runner.ts';
import { Doubt } from './doubt.ts';
import type { AssessLimits } from './limits.ts';
import { printable } from './names.ts';

/** The git processes of one tree: all on its shadow, all within one bound of time. */
export interface GitCalls {
  /** Standard output. @throws Doubt for whatever else git does, in its words */
  run(name: string, args: readonly string[], options?: CallOptions): Promise<Buffer>;
  /** How it ended, for who has a second way. */
  try(name: string, args: readonly string[], options?: CallOptions): Promise<RunResult>;
  count(): number;
}

export type CallOptions = Partial<Pick<GitOptions, 'cwd' | 'input' | 'settings' | 'maxOutputBytes'>>;

export function gitCalls(
  counted: CountedGit,
  where: { gitDir: string; workTree: string | null },
  options: { limits: AssessLimits; signal?: AbortSignal | undefined; env?: NodeJS.ProcessEnv | undefined },
): GitCalls {
  const { limits, signal, env } = options;
  const endsAt = performance.now() + limits.totalMs;
  const attempt: GitCalls['try'] = async (name, args, call = {}) => {
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new Doubt(`git did not finish in time (${name})`);
    try {
      return await counted.run(args, {
        gitDir: where.gitDir,
        workTree: where.workTree ?? undefined,
        maxOutputBytes: limits.outputBytes,
        ...call,
        timeoutMs: Math.min(limits.callMs, leftMs),
        signal,
        env,
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new Doubt(error instanceof Error ? printable(error.message) : 'git could not be run');
    }
  };
  return {
    try: attempt,
    run: async (name, args, call) => {
      const result = await attempt(name, args, call);
      if (succeeded(result) && result.signal === null) return result.stdout;
      throw new Doubt(`${name} failed: ${printable(gitWords(result))}`);
    },
    count: counted.count,
  };
}
