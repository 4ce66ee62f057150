import type { Assessment } from '../types.ts';
import { assessRepository } from './assess-repository.ts';
import type { AssessOptions } from './context.ts';
import { Doubt } from './doubt.ts';
import { openRepository, type Repository } from './git-directory.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { goesWith } from './nested.ts';
import { canonical } from './read.ts';
import { decideVerdict, fingerprint } from './verdict.ts';

/**
 * What a tree holds that would be lost with it, and what follows (docs/isolation.md#verdicts). Read-only; runs nothing
 * the tree asks for. Whatever the tree is, the answer is a verdict: what cannot be looked at is `unknown`.
 * @param path a work tree of any kind, or a git directory
 * @throws the signal's reason when aborted, and nothing else
 */
export async function assess(path: string, options: AssessOptions = {}): Promise<Assessment> {
  const { base = null, refsAtLaunch = null, expected, views = [], git, signal, env } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  signal?.throwIfAborted();
  let repository: Repository;
  try {
    repository = openRepository(path, { expected, views });
  } catch (error) {
    if (error instanceof Doubt) return unreadable(path, error.message, expected?.kind ?? 'repository');
    throw error;
  }
  const scratchBranch = expected?.scratchBranch ?? null;
  const instance = expected?.root ?? null;
  return await assessRepository(
    repository,
    { base, refsAtLaunch, scratchBranch },
    {
      views,
      git,
      limits,
      signal,
      env,
      lfsSkipped: options.lfsSkipped === true,
      within: [...goesWith(repository), ...views.map(({ host }) => host)],
      session: instance === null ? [] : [canonical(instance) ?? instance],
      root: instance,
      depth: 0,
      left: { nested: limits.nested },
    },
  );
}

/** The answer for what could not even be opened. */
function unreadable(path: string, problem: string, kind: Assessment['kind']): Assessment {
  const decided = decideVerdict({ doubts: [problem], evidence: null });
  return {
    path,
    kind,
    ...decided,
    evidence: null,
    fingerprint: fingerprint({ path, kind, ...decided }),
    git_processes: 0,
  };
}
