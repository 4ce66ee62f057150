import { readdir, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode, JackinError, readFileBounded, removeTree } from '@jackin/core';
import { look } from './source-directory.ts';

/** A linked worktree as its repository knows it: a directory in `worktrees/`. */
export interface Registration {
  name: string;
  path: string;
  /** The `.git` file it points to; null when it names none. */
  points_to: string | null;
  /** Why it is locked; null when it is not. */
  locked: string | null;
}

const POINTER_BYTES = 64 * 1024;

export function lockReason(container: string): string {
  return `jackin ${container}`;
}

/** Every registration of a repository. @throws JackinError or the system's error when they cannot be looked at */
export async function registrationsOf(commonDir: string): Promise<Registration[]> {
  const directory = join(commonDir, 'worktrees');
  const stats = await look(directory);
  if (stats?.isDirectory() !== true) return [];
  const names = await readdir(directory);
  const found = await Promise.all(names.sort().map((name) => readRegistration(directory, name)));
  return found.filter((entry) => entry !== null);
}

/** What git reads of a registration whenever it looks at the repository, and would wait for if it were a pipe. */
const READ_BY_GIT = ['HEAD', 'commondir', 'gitdir', 'locked', 'index', 'config.worktree'];

/** The first file of a registration that is not one, so that no git may look at it; null when all are. */
export async function strangeFileOf({ path }: Pick<Registration, 'path'>): Promise<string | null> {
  for (const name of READ_BY_GIT) {
    const stats = await look(join(path, name));
    if (stats !== null && !stats.isFile()) return join(path, name);
  }
  return null;
}

/**
 * Before a git that reads every registration, which would wait for a pipe in any of them.
 * @throws JackinError `GIT_FAILED` naming the file
 */
export async function refuseStrangeFiles(commonDir: string): Promise<void> {
  for (const registration of await registrationsOf(commonDir)) {
    const strange = await strangeFileOf(registration);
    if (strange === null) continue;
    throw new JackinError({
      code: 'GIT_FAILED',
      message: `${JSON.stringify(strange)} is not a file, and git would wait for it`,
      hint: `Look at it, and remove it when nothing needs it: ls -l ${JSON.stringify(strange)}`,
      details: { path: strange },
    });
  }
}

/** The one of a tree, which need not be there any more. */
export async function registrationOf(commonDir: string, tree: string): Promise<Registration | null> {
  const places = await namesOf(tree);
  const all = await registrationsOf(commonDir);
  return all.find(({ points_to }) => points_to !== null && places.includes(points_to)) ?? null;
}

/** Removes one, and the directory of all of them if it was the last, as git does. */
export async function dropRegistration(commonDir: string, name: string): Promise<void> {
  const directory = join(commonDir, 'worktrees');
  // `worktrees` that leads elsewhere is not the repository's own.
  if ((await look(directory))?.isDirectory() !== true) return;
  await removeTree(join(directory, name), { inside: directory });
  await removeIfEmpty(directory);
}

/** Removes an empty directory; one that is not empty or not there is left. */
export async function removeIfEmpty(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/** The names a tree's `.git` may go by: git writes the canonical one. */
export async function namesOf(tree: string): Promise<string[]> {
  const parent = await realpath(dirname(tree)).catch(() => dirname(tree));
  return [join(resolve(tree), '.git'), join(parent, basename(tree), '.git')];
}

async function readRegistration(directory: string, name: string): Promise<Registration | null> {
  const path = join(directory, name);
  if ((await look(path))?.isDirectory() !== true) return null;
  const [pointer, lock] = await Promise.all(
    ['gitdir', 'locked'].map((file) => readFileBounded(join(path, file), { maxBytes: POINTER_BYTES })),
  );
  const target = pointer?.toString('utf8').replace(/[\r\n]+$/, '') ?? '';
  return {
    name,
    path,
    points_to: target === '' ? null : resolve(path, target),
    locked: lock?.toString('utf8').trim() ?? null,
  };
}
