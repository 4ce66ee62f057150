import { JackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { lockReason } from '../materialise/registration.ts';

/** What is there of a tree and of what belongs to it, right before it is removed. */
export interface RemovalFacts {
  tree: 'yes' | 'no' | 'unknown';
  /** The directory of the repository; null where none is known. */
  common_dir: string | null;
  /** `no`: the repository is gone, or another one is in its place. */
  repository: 'yes' | 'no' | 'unknown';
  /** The one that points to the tree. */
  registration: { name: string; locked: string | null } | null;
  /** Of worktrees the agent added in the session's own directory, with where they are. */
  added: { name: string; path: string }[];
  /** Ours, if it is there. */
  branch: { commit: string; checked_out: string | null } | null;
  /** Another worktree of this program is registered there, whose container may need what was placed. */
  others: boolean;
}

export type RemovalStep =
  | { remove: 'tree'; path: string }
  | { remove: 'registration'; common_dir: string; name: string; tree: string }
  | { remove: 'branch'; common_dir: string; ref: string; commit: string }
  | { remove: 'placed'; common_dir: string; names: string[] };

export interface RemovalPlan {
  steps: RemovalStep[];
  /** What stays, and why. */
  notices: string[];
}

/**
 * What goes, in order: the tree, its registration, those of worktrees that were added in the session's directory, the
 * branch that was made for it; nothing else of the repository.
 * Whether it may go was decided before (docs/isolation.md#removal). Pure.
 * @param seenTip where the branch was when its removal was decided
 * @throws JackinError `TREE_LOCKED`, `STATE_CHANGED`, `REPOSITORY_UNKNOWN`: nothing is removed then
 */
export function planRemoval(
  record: IsolationRecord,
  facts: RemovalFacts,
  seenTip: string | null = null,
): RemovalPlan {
  const { worktree_path: path, scratch_branch: name } = record;
  const common = facts.common_dir ?? '';
  const steps: RemovalStep[] = [];
  const notices: string[] = [];
  if (facts.tree === 'unknown') throw unknown(record, `cannot tell whether there is something at ${path}`);
  if (facts.tree === 'yes') steps.push({ remove: 'tree', path });
  if (record.isolation === 'clone') return { steps, notices };
  if (facts.repository === 'unknown') throw unknown(record, `the repository ${common} cannot be looked at`);
  if (facts.repository === 'no') {
    return {
      steps,
      notices: [`The repository ${common || record.original_src} is gone; only the tree was removed.`],
    };
  }
  const { registration, added, branch } = facts;
  if (registration !== null) {
    const { locked } = registration;
    if (locked !== null && locked !== lockReason(record.container_name)) throw isLocked(record, locked);
    steps.push({ remove: 'registration', common_dir: common, name: registration.name, tree: path });
  }
  for (const { name, path: tree } of added)
    steps.push({ remove: 'registration', common_dir: common, name, tree });
  if (branch !== null && name !== '') {
    if (seenTip !== null && branch.commit !== seenTip) throw moved(record, seenTip, branch.commit);
    const elsewhere = branch.checked_out !== null && branch.checked_out !== path;
    if (elsewhere) notices.push(`The branch ${name} is checked out in ${branch.checked_out} and stays.`);
    else
      steps.push({ remove: 'branch', common_dir: common, ref: `refs/heads/${name}`, commit: branch.commit });
  }
  const placed = record.placed_paths ?? [];
  if (placed.length > 0 && !facts.others) steps.push({ remove: 'placed', common_dir: common, names: placed });
  return { steps, notices };
}

function isLocked({ worktree_path: path, mount_dst }: IsolationRecord, reason: string): JackinError {
  return new JackinError({
    code: 'TREE_LOCKED',
    message: `The worktree ${JSON.stringify(path)} is locked by somebody else${reason === '' ? '' : ` (${reason})`} and stays.`,
    hint: `When it is not needed any more: git -C ${JSON.stringify(path)} worktree unlock ${JSON.stringify(path)}`,
    details: { path, mount_dst, reason },
  });
}

function moved({ scratch_branch, mount_dst }: IsolationRecord, seen: string, now: string): JackinError {
  return new JackinError({
    code: 'STATE_CHANGED',
    message: `The branch ${scratch_branch} was at ${seen.slice(0, 12)} when its removal was decided and is at ${now.slice(0, 12)} now; nothing was removed.`,
    hint: 'Look again (jackin status --detail), then run the command again.',
    details: { mount_dst, branch: scratch_branch, seen, now },
  });
}

function unknown({ mount_dst, worktree_path: path }: IsolationRecord, reason: string): JackinError {
  return new JackinError({
    code: 'REPOSITORY_UNKNOWN',
    message: `The tree of ${mount_dst} stays: ${reason}.`,
    hint: `Look at it with: ls -ld ${JSON.stringify(path)}, then run the command again.`,
    details: { mount_dst, path },
  });
}
