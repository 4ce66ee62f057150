import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ensurePrivateDir, errorCode, fileSystemError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { makeClone } from './make-clone.ts';
import { makeWorktree } from './make-worktree.ts';
import type { MaterialisePlan } from './plan-materialise.ts';
import { treeExists } from './refusals.ts';
import { removeIfEmpty } from './registration.ts';
import type { GitContext } from './repository-git.ts';
import { presence } from './source-directory.ts';
import { undoneOnFailure } from './undo.ts';

export interface Materialised {
  /** To be written by whoever keeps the records, before the tree is used. */
  record: IsolationRecord;
  /** For the launch report, one sentence each; those of the plan are first. */
  notices: string[];
}

/**
 * Makes the tree of a plan. When it fails, its own half is undone; what could not be undone is named in the error
 * (`details.left`).
 * @throws JackinError `TREE_EXISTS`, `MATERIALISE_FAILED`, `GIT_MISSING`, `DISK_FULL` and what else a file system says;
 * the signal's reason when aborted
 */
export async function materialise(plan: MaterialisePlan, context: GitContext = {}): Promise<Materialised> {
  const known = await presence(plan.tree);
  if (known !== 'no') throw treeExists(plan.tree, known);
  const hint = `Look at the repository (git -C ${JSON.stringify(plan.src)} status), then run the command again.`;
  const made = await undoneOnFailure(`The ${plan.kind} of ${plan.src}`, hint, async (undo) => {
    for (const directory of (await missingParents(plan.tree)).reverse()) {
      undo.add(directory, async () => void (await removeIfEmpty(directory)));
    }
    await claim(plan.tree);
    undo.add(plan.tree, async () => void (await removeIfEmpty(plan.tree)));
    const make = plan.kind === 'worktree' ? makeWorktree : makeClone;
    return await make(plan, context, undo);
  });
  const record: IsolationRecord = {
    workspace: plan.workspace,
    mount_dst: plan.dst,
    original_src: plan.src,
    isolation: plan.kind,
    worktree_path: plan.tree,
    base_commit: plan.base_commit,
    selector_key: plan.selector_key,
    container_name: plan.container,
    cleanup_status: 'active',
    ...(plan.host_branch === null ? {} : { host_branch: plan.host_branch }),
    ...(plan.lfs === 'pointers' ? { lfs_skipped: true } : {}),
    ...made.fields,
  };
  return { record, notices: [...plan.notices, ...made.notices] };
}

/** Another launch that undoes its own half takes the parents it made while they are empty. */
const CLAIM_TRIES = 5;

/** The tree's directory comes first: from then on nobody takes the ones above it for empty. */
async function claim(tree: string, tries = CLAIM_TRIES): Promise<void> {
  await ensurePrivateDir(dirname(tree));
  try {
    await mkdir(tree);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw treeExists(tree, 'yes');
    if (errorCode(error) !== 'ENOENT' || tries <= 1) throw fileSystemError(error, tree, 'create');
    await claim(tree, tries - 1);
  }
}

/** The directories above a path that are not there yet, the lowest first. */
async function missingParents(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = dirname(path); (await presence(at)) === 'no'; at = dirname(at)) missing.push(at);
  return missing;
}
