import { JackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import type { Assessment, PathView } from '../types.ts';
import { assess } from './assess.ts';
import type { AssessOptions } from './context.ts';
import { Doubt, unlessDoubt } from './doubt.ts';
import { openRepository } from './git-directory.ts';
import { type AssessLimits, DEFAULT_LIMITS } from './limits.ts';
import { text } from './names.ts';
import { look } from './read.ts';
import { readStash } from './reflog.ts';
import { readRefs } from './refs.ts';
import { readRootRefs } from './root-refs.ts';

export interface SnapshotOptions {
  views?: readonly PathView[];
  limits?: Partial<AssessLimits>;
}

/**
 * What a launch records to tell later what is new: all refs but remote-tracking ones by full name, and the entries of
 * the stash as `stash@{n}`. Runs no git, and follows neither a link nor the pointer of a submodule.
 * @param path a clone, a linked worktree, or a git directory
 * @throws JackinError `REFS_NOT_READABLE`
 */
export async function snapshotRefs(
  path: string,
  options: SnapshotOptions = {},
): Promise<Record<string, string>> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  try {
    if (look(path)?.isSymbolicLink() === true) throw new Doubt('it is a symbolic link');
    const repository = openRepository(path, { views: options.views ?? [], root: instanceOf(path) });
    if (repository.needsWorktreeSetting) throw new Doubt('it is a submodule');
    // What is not recorded counts at the exit: too much to look at beside the refs keeps no session from starting.
    const besideRefs: typeof readRootRefs = (...of) => unlessDoubt(() => readRootRefs(...of)) ?? new Map();
    const { all } = readRefs(repository, limits, { besideRefs });
    const stash = readStash(repository, all.get('refs/stash') ?? null, limits);
    return Object.fromEntries([
      ...[...all]
        .filter(([name]) => !name.startsWith('refs/remotes/') && name !== 'refs/stash')
        .map(([name, id]) => [text(name), id]),
      ...stash.map(({ commit }, at) => [`stash@{${at}}`, commit]),
    ]);
  } catch (error) {
    if (!(error instanceof Doubt)) throw error;
    throw new JackinError({
      code: 'REFS_NOT_READABLE',
      message: `The refs of ${path} cannot be read: ${error.message}.`,
      hint: `Look at the repository: git -C '${path}' for-each-ref`,
      details: { path },
    });
  }
}

export type RecordContext = Omit<AssessOptions, 'base' | 'refsAtLaunch' | 'expected' | 'lfsSkipped'>;

/** The tree of a record, measured by what the record says of it. */
export function assessRecord(record: IsolationRecord, context: RecordContext = {}): Promise<Assessment> {
  return assess(record.worktree_path, {
    ...context,
    base: record.base_commit,
    refsAtLaunch: record.refs_at_launch ?? null,
    expected: {
      kind: record.isolation,
      commonDir: record.git_common_dir ?? null,
      scratchBranch: record.scratch_branch === '' ? null : record.scratch_branch,
      root: instanceOf(record.worktree_path),
    },
    lfsSkipped: record.lfs_skipped === true,
  });
}

/** The data directory of the instance, by the layout of its trees (docs/storage.md#places); null elsewhere. */
function instanceOf(path: string): string | null {
  return /^(.+)\/git\/(?:worktree|clone)\/repo\//.exec(path)?.[1] ?? null;
}
