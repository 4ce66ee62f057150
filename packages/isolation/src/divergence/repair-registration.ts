import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { JackinError, type Owner, readFileBounded, toJackinError, writeFileDurable } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { branchOf } from '../materialise/branch-of.ts';
import {
  lockReason,
  refuseStrangeFiles,
  registrationOf,
  registrationsOf,
} from '../materialise/registration.ts';
import { dangerIn } from '../materialise/registration-settings.ts';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';
import { findSource, look } from '../materialise/source-directory.ts';
import { isRepository } from '../removal/observe-removal.ts';
import { linkOnTheWay, ownRegistration } from './registration-state.ts';

export interface RepairOptions extends GitContext {
  /** Where the repository is now, when it was moved. */
  source?: string | null;
}

/**
 * Links a worktree with its repository again: what `git worktree repair` writes, but for this worktree only. One that
 * the repository has forgotten is registered again on its branch; what was staged is then a change like any other. No
 * file of the tree but its `.git` file is touched (docs/isolation.md#divergence).
 * @returns the record, to be written: another place of the repository is in it
 * @throws JackinError `REPAIR_FAILED`
 */
export async function repairRegistration(
  record: IsolationRecord,
  options: RepairOptions = {},
): Promise<IsolationRecord> {
  const tree = record.worktree_path;
  try {
    const link = await linkOnTheWay(record);
    if (link !== null) throw failure(link, record);
    const { src, common } = await repositoryNow(record, options.source ?? null);
    const own = await ownRegistration(record, await registrationsOf(common));
    const name = own?.name ?? (await registerAgain(record, common, options));
    const admin = join(common, 'worktrees', name);
    const danger = await dangerIn({ path: admin }, options);
    if (danger !== null) throw failure(danger, record);
    await point(join(admin, 'gitdir'), `${join(tree, '.git')}\n`, admin);
    await point(join(tree, '.git'), `gitdir: ${admin}\n`, tree);
    if ((await registrationOf(common, tree))?.name !== name) throw failure('it did not hold');
    await repositoryGit(admin, options, [tree]).must(['rev-parse', '--git-dir']);
    return { ...record, original_src: src, git_common_dir: common, registration: name };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof JackinError && ['REPAIR_FAILED', 'GIT_MISSING'].includes(error.code)) throw error;
    throw failure(toJackinError(error).message, record, error);
  }
}

async function repositoryNow(
  record: IsolationRecord,
  moved: string | null,
): Promise<{ src: string; common: string }> {
  const found = await findSource(moved ?? record.original_src);
  const common = moved === null ? (record.git_common_dir ?? found.common_dir) : found.common_dir;
  if (common === null || !(await isRepository(common))) {
    throw failure(`there is no repository at ${moved ?? record.original_src}`, record);
  }
  const own = await ownRegistration(record, await registrationsOf(common));
  if (moved !== null && own === null) {
    throw failure(`the repository at ${moved} does not know this worktree`, record);
  }
  return { src: moved === null ? record.original_src : found.src, common };
}

/** Where git keeps no entry of it: one is made beside and pointed to the tree. */
async function registerAgain(record: IsolationRecord, common: string, context: GitContext): Promise<string> {
  const { worktree_path: tree, scratch_branch: branch, container_name: container } = record;
  const git = repositoryGit(common, context, [record.original_src]);
  const there = await branchOf(git, branch, null, tree);
  if (there === null) throw failure('its branch is gone, too', record);
  if (there.checked_out !== null) throw failure(`${branch} is checked out in ${there.checked_out}`, record);
  const beside = await mkdtemp(join(dirname(tree), '.repair-'));
  try {
    const place = join(beside, container);
    const settings = ['worktree.useRelativePaths=false'];
    const reason = lockReason(container);
    await refuseStrangeFiles(common);
    await git.must(['worktree', 'add', '-q', '--no-checkout', '--lock', '--reason', reason, place, branch], {
      settings,
    });
    const made = await registrationOf(common, place);
    if (made === null) throw failure('git did not register it', record);
    // The tree as the branch has it; what differs shows as changed, and nothing is written there.
    await repositoryGit(made.path, context, [tree]).must(['read-tree', 'HEAD']);
    return made.name;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** Writes a pointer file if it says something else, for who owns the directory. Never through a link. */
async function point(path: string, content: string, directory: string): Promise<void> {
  const there = await look(path);
  if (there !== null && !there.isFile()) throw failure(`${path} is not a file`);
  const now = there === null ? null : await readFileBounded(path, { maxBytes: 65_536 });
  if (now?.toString('utf8') === content) return;
  const { uid, gid } = await lstat(directory);
  const owner: { owner?: Owner } = process.getuid?.() === 0 ? { owner: { uid, gid } } : {};
  await writeFileDurable(path, content, { mode: 0o644, ...owner });
}

function failure(reason: string, record?: IsolationRecord, cause?: unknown): JackinError {
  const tree = record?.worktree_path ?? 'the worktree';
  return new JackinError({
    code: 'REPAIR_FAILED',
    message: `${tree} could not be linked with its repository again: ${reason}. Its files are untouched.`,
    hint:
      record === undefined
        ? 'See what git knows: git worktree list'
        : `See what git knows: git -C ${JSON.stringify(record.original_src)} worktree list`,
    details: record === undefined ? {} : { path: record.worktree_path, mount_dst: record.mount_dst },
    ...(cause === undefined ? {} : { cause }),
  });
}
