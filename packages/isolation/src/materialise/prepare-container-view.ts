import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, fileSystemError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { lockReason, registrationsOf } from './registration.ts';
import { type GitContext, repositoryGit } from './repository-git.ts';
import { look } from './source-directory.ts';
import { hooksWithin, isOn, parseSettings, settingOf } from './source-settings.ts';

/** Directories a container must not write, made where they are missing. The last two are old ways to name a remote. */
export const PLACED = ['hooks', 'info', 'modules', 'branches', 'remotes'];

/**
 * What must be true of the repository before a container gets it: everything it may not write is there, because what is
 * not there can be created. Missing ones are made empty and remembered, so that they go with the tree. A clone's
 * record comes back as it is. Run before each creation of a container; it converges.
 * @returns the record, to be written
 * @throws JackinError `STATE_NOT_WRITABLE` when the repository cannot be written, `GIT_FAILED`
 */
export async function prepareContainerView(
  record: IsolationRecord,
  context: GitContext = {},
): Promise<IsolationRecord> {
  const common = record.git_common_dir;
  if (record.isolation !== 'worktree' || common === undefined) return record;
  const git = repositoryGit(common, context);
  const settings =
    parseSettings(await git.must(['config', '--list', '-z', '--show-scope', '--includes'])) ?? [];
  const placed = new Set(record.placed_paths ?? []);
  const admin = join(common, 'worktrees', record.registration ?? record.container_name);
  await place(join(admin, 'locked'), (path) =>
    writeFile(path, lockReason(record.container_name), { flag: 'wx' }),
  );
  for (const name of PLACED) {
    const path = join(common, name);
    if ((await place(path, (at) => mkdir(at))) || (await isInherited(path, record))) placed.add(name);
  }
  const protectedPaths = ['config', ...PLACED];
  if (isOn(settingOf(settings, 'extensions.worktreeconfig'))) {
    const name = 'config.worktree';
    if (await place(join(common, name), (path) => writeFile(path, '', { flag: 'wx' }))) placed.add(name);
    // Read by every git in the tree, and it goes with the registration.
    await place(join(admin, name), (path) => writeFile(path, '', { flag: 'wx' }));
    protectedPaths.push(name);
  }
  for (const name of hooksWithin(common, record.original_src, settings)) {
    const there = (await look(join(common, name))) !== null;
    if (there && !protectedPaths.includes(name)) protectedPaths.push(name);
  }
  return { ...record, protected_paths: protectedPaths, placed_paths: [...placed] };
}

/** Empty, and made for another worktree of ours: it goes with the last of them. Git itself leaves none of these empty. */
async function isInherited(
  path: string,
  { git_common_dir: common = '', registration }: IsolationRecord,
): Promise<boolean> {
  if ((await readdir(path).catch(() => [path])).length > 0) return false;
  const all = await registrationsOf(common);
  return all.some(({ name, locked }) => name !== registration && locked?.startsWith(lockReason('')) === true);
}

/** Whether it was made. */
async function place(path: string, make: (path: string) => Promise<unknown>): Promise<boolean> {
  if ((await look(path)) !== null) return false;
  try {
    await make(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw fileSystemError(error, path, 'create');
  }
}
