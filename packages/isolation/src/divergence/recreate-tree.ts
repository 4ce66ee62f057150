import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensurePrivateDir, JackinError, removeTree, writeFileDurable } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { branchOf } from '../materialise/branch-of.ts';
import { embedSubmodules, lfsChoice } from '../materialise/embed-submodules.ts';
import { lfsOf } from '../materialise/lfs.ts';
import { treeExists } from '../materialise/refusals.ts';
import {
  dropRegistration,
  lockReason,
  refuseStrangeFiles,
  registrationOf,
  registrationsOf,
} from '../materialise/registration.ts';
import { dangerIn } from '../materialise/registration-settings.ts';
import { CHECKOUT_MS, type GitContext, repositoryGit } from '../materialise/repository-git.ts';
import { findSource, look, presence } from '../materialise/source-directory.ts';
import { ownFilters, parseSettings, withoutFilters } from '../materialise/source-settings.ts';
import { submodulesOf } from '../materialise/submodule-facts.ts';
import { type Undo, undoneOnFailure } from '../materialise/undo.ts';
import { ownRegistration } from './registration-state.ts';

/**
 * Checks a worktree out again whose directory is gone, at the same path. Where the repository still knows it, what was
 * staged comes back as well; what was neither staged nor committed does not (docs/isolation.md#divergence).
 * @param from what the operator agreed to
 * @returns the record, to be written, and sentences for the report
 * @throws JackinError `TREE_EXISTS`, `STATE_CHANGED`, `BRANCH_IN_USE`, `MATERIALISE_FAILED`
 */
export async function recreateTree(
  record: IsolationRecord,
  from: { branch: string; commit: string },
  context: GitContext = {},
): Promise<{ record: IsolationRecord; notices: string[] }> {
  const { worktree_path: tree, git_common_dir: common, original_src: src } = record;
  const known = await presence(tree);
  if (known !== 'no') throw treeExists(tree, known);
  if (record.isolation !== 'worktree' || common === undefined) throw changed(record, from, 'is no worktree');
  const git = repositoryGit(common, context, [src]);
  const own = await ownRegistration(record, await registrationsOf(common));
  const branch = await branchOf(git, from.branch, own, tree);
  if (branch?.commit !== from.commit)
    throw changed(record, from, `is at ${branch?.commit ?? 'no commit'} now`);
  if (branch.checked_out !== null && branch.checked_out !== tree)
    throw inUse(from.branch, branch.checked_out);
  const settings =
    parseSettings(await git.must(['config', '--list', '-z', '--show-scope', '--includes'])) ?? [];
  const lfs = await lfsOf(git, common, from.commit);
  const pointers = record.lfs_skipped === true || !lfs.available;
  const checkout = {
    timeoutMs: CHECKOUT_MS,
    settings: [
      'worktree.useRelativePaths=false',
      ...(withoutFilters(ownFilters(settings)) ?? []),
      ...(lfs.used ? lfsChoice(pointers) : []),
    ],
  };
  const hint = `Look at the repository: git -C ${JSON.stringify(src)} worktree list`;
  return await undoneOnFailure(`The worktree ${tree}`, hint, async (undo) => {
    await ensurePrivateDir(dirname(tree));
    undo.add(tree, () => removeTree(tree, { inside: dirname(tree) }));
    const name = own === null ? await addAgain(undo) : await fillAgain(own.name, undo);
    const found = await findSource(src);
    const notices = await embedSubmodules(
      {
        source: src,
        within: [src, common, ...(found.git_dir === null ? [] : [found.git_dir])],
        tree,
        submodules: await submodulesOf(git, src, from.commit),
        pointers,
      },
      context,
    );
    return { record: { ...record, registration: name }, notices };
  });

  /** The repository knows it: its index is there. */
  async function fillAgain(name: string, undo: Undo): Promise<string> {
    const admin = join(common as string, 'worktrees', name);
    const danger = await dangerIn({ path: admin }, context);
    if (danger !== null)
      throw new JackinError({
        code: 'MATERIALISE_FAILED',
        message: `The worktree ${tree} was not made again: ${danger}.`,
        hint: `Look at it with: ls -la ${JSON.stringify(admin)}`,
        details: { path: admin },
      });
    await mkdir(tree);
    await writeFileDurable(join(tree, '.git'), `gitdir: ${admin}\n`, { mode: 0o644 });
    await writeFileDurable(join(admin, 'gitdir'), `${join(tree, '.git')}\n`, { mode: 0o644 });
    const files = repositoryGit(admin, context, [tree]);
    const there = { workTree: tree, cwd: tree, ...checkout };
    const index = join(admin, 'index');
    const present = (await look(index)) !== null;
    const asked = present ? await files.run(['ls-files', '-s', '-z'], there) : null;
    if (asked !== null && asked.exitCode !== 128) {
      await files.must(['checkout-index', '-a', '-q', '-u'], there);
      return name;
    }
    if (present) {
      // The only copy of what was staged, for whoever can read more of it.
      const kept = `${index}.before-recreate`;
      await rename(index, kept);
      undo.add(index, () => rename(kept, index));
    }
    await files.must(['read-tree', '--reset', '-u', 'HEAD'], there);
    return name;
  }

  async function addAgain(undo: Undo): Promise<string> {
    undo.add(`the registration of ${tree}`, async () => {
      const made = await registrationOf(common as string, tree);
      if (made !== null) await dropRegistration(common as string, made.name);
    });
    const lock = ['--lock', '--reason', lockReason(record.container_name)];
    await refuseStrangeFiles(common as string);
    await git.must(['worktree', 'add', '-q', ...lock, tree, from.branch], checkout);
    return (await registrationOf(common as string, tree))?.name ?? record.container_name;
  }
}

function changed(
  record: IsolationRecord,
  from: { branch: string; commit: string },
  now: string,
): JackinError {
  return new JackinError({
    code: 'STATE_CHANGED',
    message: `${record.mount_dst} was to be checked out again from ${from.branch} at ${from.commit.slice(0, 12)}, which ${now}; nothing was changed.`,
    hint: 'Look again (jackin status --detail), then run the command again.',
    details: { mount_dst: record.mount_dst, ...from },
  });
}

function inUse(branch: string, worktree: string): JackinError {
  return new JackinError({
    code: 'BRANCH_IN_USE',
    message: `${branch} is checked out in ${JSON.stringify(worktree)}.`,
    hint: `Free it, then run the command again: git -C ${JSON.stringify(worktree)} switch --detach`,
    details: { branch, worktree },
  });
}
