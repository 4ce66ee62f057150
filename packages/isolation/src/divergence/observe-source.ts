import { JackinError, toJackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { branchOf } from '../materialise/branch-of.ts';
import { registrationsOf, strangeFileOf } from '../materialise/registration.ts';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';
import { findSource, presence } from '../materialise/source-directory.ts';
import { isRepository } from '../removal/observe-removal.ts';
import type { Divergence } from '../types.ts';
import { decideDivergence, type SourceState } from './decide-divergence.ts';
import { historyOf } from './history.ts';
import { ownRegistration, registrationFact } from './registration-state.ts';

/**
 * What the host's repository has become since a tree was made of it. Changes nothing, and whatever could not be looked
 * at is `unknown` (docs/isolation.md#divergence).
 * @throws JackinError `GIT_MISSING`; the signal's reason when aborted
 */
export async function observeSource(record: IsolationRecord, context: GitContext = {}): Promise<Divergence> {
  try {
    return decideDivergence(await look(record, context));
  } catch (error) {
    context.signal?.throwIfAborted();
    if (error instanceof JackinError && error.code === 'GIT_MISSING') throw error;
    return { state: 'unknown', reason: toJackinError(error).message };
  }
}

async function look(record: IsolationRecord, context: GitContext): Promise<SourceState> {
  const { isolation: kind, worktree_path: path, original_src: src } = record;
  const tree = { path, present: await presence(path) };
  const found = await findSource(src);
  const common = record.git_common_dir ?? found.common_dir;
  const state = { kind, tree, registration: null, scratch: null, history: null };
  const there = common !== null && (await isRepository(common));
  if (!there) {
    const reason = common === null ? 'it is no repository any more' : `there is no repository at ${common}`;
    // Of a source that cannot be looked at, nothing is known.
    const present = found.problem !== null && (await presence(src)) !== 'no' ? 'unknown' : 'no';
    return {
      ...state,
      source: { path: src, present, reason: present === 'no' ? reason : (found.problem ?? reason) },
    };
  }
  const present = { path: src, present: 'yes' as const, reason: '' };
  // The HEAD of the source, which may be a linked worktree of its own.
  const gitDir = found.common_dir === common && found.git_dir !== null ? found.git_dir : common;
  const git = repositoryGit(gitDir, context, [src, common]);
  if (kind === 'clone') return { ...state, source: present, history: await historyOf(record, git) };
  const all = await registrationsOf(common);
  const own = await ownRegistration(record, all);
  const strange = own === null ? null : await strangeFileOf(own);
  if (strange !== null)
    return { ...state, source: { path: src, present: 'unknown', reason: `${strange} is not a file` } };
  const branch = await branchOf(git, record.scratch_branch, own, path);
  if (own === null && branch === null) {
    const reason =
      'the repository there knows neither the worktree nor its branch: it is another one, or was cleaned up';
    return { ...state, source: { path: src, present: 'no', reason } };
  }
  const elsewhere = branch?.checked_out === path ? null : (branch?.checked_out ?? null);
  return {
    ...state,
    source: present,
    scratch: branch === null ? null : { name: record.scratch_branch, commit: branch.commit, elsewhere },
    registration: tree.present === 'yes' ? await registrationFact(record, own, branch !== null) : null,
    history: await historyOf(record, git),
  };
}
