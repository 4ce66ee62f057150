import { rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, JackinError, removeTree } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { dropRegistration, registrationOf, removeIfEmpty } from '../materialise/registration.ts';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';
import { look } from '../materialise/source-directory.ts';
import { treeHome } from '../materialise/tree-path.ts';
import { observeRemoval } from './observe-removal.ts';
import { planRemoval, type RemovalPlan, type RemovalStep } from './plan-removal.ts';

export interface RemovalOptions extends GitContext {
  /** Where the branch was when its removal was decided; one that has moved since is not removed, and nothing else is. */
  branchTip?: string | null;
}

export interface Removal {
  /** One phrase each: what is gone now and was there before. */
  removed: string[];
  /** What stays, and why. */
  notices: string[];
}

/**
 * Removes a tree with its registration and the branch made for it, whatever the tree holds: consent is decided before
 * (docs/isolation.md#removal). Parts that are gone already are passed over, so it can be run again. Nothing else of
 * the repository is touched, and nothing in it is ever pruned.
 * @throws JackinError `TREE_PERMISSION`, `TREE_LOCKED`, `STATE_CHANGED`, `REPOSITORY_UNKNOWN`, `PATH_OUTSIDE`,
 * `GIT_FAILED`, and what removing a directory is refused for
 */
export async function removeMaterialised(
  record: IsolationRecord,
  options: RemovalOptions = {},
): Promise<Removal> {
  const home = treeHome(record);
  const facts = await observeRemoval(record, options);
  const plan = planRemoval(record, facts, options.branchTip ?? null);
  return await executeRemoval(plan, record, home, options);
}

async function executeRemoval(
  plan: RemovalPlan,
  record: IsolationRecord,
  home: string,
  context: GitContext,
): Promise<Removal> {
  const removed: string[] = [];
  for (const step of plan.steps) {
    context.signal?.throwIfAborted();
    removed.push(...(await perform(step, record, home, context)));
  }
  await removeEmptyParents(dirname(record.worktree_path), home);
  return { removed, notices: plan.notices };
}

async function perform(
  step: RemovalStep,
  record: IsolationRecord,
  home: string,
  context: GitContext,
): Promise<string[]> {
  switch (step.remove) {
    case 'tree':
      // The pointer or repository goes last: half a tree can still be looked at.
      await removeTree(step.path, { inside: home, last: ['.git'] }).catch((error: unknown) => {
        throw permissionOf(error, record);
      });
      return [`${record.isolation} ${step.path}`];
    case 'registration': {
      // Looked at again: only what still points to that tree.
      const own = await registrationOf(step.common_dir, step.tree);
      if (own?.name !== step.name) return [];
      await dropRegistration(step.common_dir, step.name);
      return [`registration ${step.name} in ${step.common_dir}`];
    }
    case 'branch': {
      const git = repositoryGit(step.common_dir, context, [record.original_src]);
      await git.must(['update-ref', '-d', step.ref, step.commit]);
      return [`branch ${step.ref.slice('refs/heads/'.length)} (was ${step.commit.slice(0, 12)})`];
    }
    case 'placed':
      for (const name of step.names) await removePlaced(join(step.common_dir, name));
      return [];
  }
}

/** Only while it is as empty as it was made. */
async function removePlaced(path: string): Promise<void> {
  const stats = await look(path);
  if (stats?.isDirectory() === true) await removeIfEmpty(path);
  else if (stats?.isFile() === true && stats.size === 0) await unlink(path);
}

async function removeEmptyParents(from: string, home: string): Promise<void> {
  for (let at = from; at.startsWith(home) && at !== dirname(home); at = dirname(at)) {
    const gone = await rmdir(at).then(
      () => true,
      (error: unknown) => errorCode(error) === 'ENOENT',
    );
    if (!gone) return;
  }
}

function permissionOf(error: unknown, record: IsolationRecord): unknown {
  if (!(error instanceof JackinError)) return error;
  const { errno, path } = error.details;
  if (errno !== 'EACCES' && errno !== 'EPERM') return error;
  const { worktree_path: tree, mount_dst } = record;
  return new JackinError({
    code: 'TREE_PERMISSION',
    message: `${JSON.stringify(path)} cannot be removed: files in the tree of ${mount_dst} belong to another user, such as the one of its container. What is left is recorded.`,
    hint: `Give them back, then run the command again: sudo chown -R "$(id -u):$(id -g)" ${quoted(tree)}`,
    details: { path, tree, mount_dst },
    cause: error,
  });
}

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
