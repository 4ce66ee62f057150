import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode, JackinError, readFileBounded, toJackinError } from '@jackin/core';

/** Where a directory's repository is, found without asking git, which would answer for any repository above. */
export interface SourceDirectory {
  /** The canonical path. */
  src: string;
  /** The directory with the `.git`, at `src` or above; null when there is none. */
  holder: string | null;
  git_dir: string | null;
  /** Where a linked worktree's refs and objects are; the git directory itself otherwise. */
  common_dir: string | null;
  /** Why it could not be looked at; null when it could. */
  problem: string | null;
}

const POINTER_BYTES = 64 * 1024;

/** Never throws for what it finds. */
export async function findSource(path: string): Promise<SourceDirectory> {
  const nothing = { holder: null, git_dir: null, common_dir: null };
  const src = await realpath(path).catch((error: unknown) => toJackinError(error));
  if (typeof src !== 'string') {
    return { src: resolve(path), ...nothing, problem: `there is no ${JSON.stringify(path)}: ${src.message}` };
  }
  try {
    for (let directory = src; ; directory = dirname(directory)) {
      const gitDir = await gitDirectoryAt(directory);
      if (gitDir !== null) {
        const common_dir = await commonDirectoryOf(gitDir);
        return { src, holder: directory, git_dir: gitDir, common_dir, problem: null };
      }
      if (directory === dirname(directory)) return { src, ...nothing, problem: null };
    }
  } catch (error) {
    return { src, ...nothing, problem: toJackinError(error).message };
  }
}

/** The git directory a directory has as `.git` or is itself (bare), or null. @throws what keeps it from being looked at */
export async function gitDirectoryAt(directory: string): Promise<string | null> {
  const dotGit = join(directory, '.git');
  const stats = await look(dotGit);
  if (stats?.isDirectory() === true || stats?.isSymbolicLink() === true) {
    const real = await realpath(dotGit);
    if (await looksLikeGitDirectory(real)) {
      await refuseRedirection(real);
      return real;
    }
  } else if (stats?.isFile() === true) {
    return await followPointer(dotGit);
  }
  return (await looksLikeGitDirectory(directory)) ? directory : null;
}

/** Where a `.git` file leads, or null when it leads nowhere. @throws JackinError when it cannot be read */
async function followPointer(file: string): Promise<string | null> {
  const target = await readPointer(file);
  if (target === null) return null;
  return await realpath(target).catch((error: unknown) => {
    if (isAbsence(error)) return null;
    throw error;
  });
}

/** The path a `.git` file names, absolute, whether or not there is anything. Null when it is no such file. */
export async function readPointer(file: string): Promise<string | null> {
  const bytes = await readFileBounded(file, { maxBytes: POINTER_BYTES });
  const found = /^gitdir: (.+?)[\r\n]*$/s.exec(bytes?.toString('utf8') ?? '');
  return found?.[1] === undefined ? null : resolve(dirname(file), found[1]);
}

/** @throws JackinError when its `commondir` cannot be read */
export async function commonDirectoryOf(gitDir: string): Promise<string> {
  const bytes = await readFileBounded(join(gitDir, 'commondir'), { maxBytes: POINTER_BYTES });
  if (bytes === null) return gitDir;
  return await realpath(resolve(gitDir, bytes.toString('utf8').replace(/[\r\n]+$/, '')));
}

/** Whether something is there, as a three-valued fact. */
export async function presence(path: string): Promise<'yes' | 'no' | 'unknown'> {
  try {
    return (await look(path)) === null ? 'no' : 'yes';
  } catch {
    return 'unknown';
  }
}

/** What is at a path, not following a link there; null when there is nothing. */
export async function look(path: string) {
  return await lstat(path).catch((error: unknown) => {
    if (isAbsence(error)) return null;
    throw error;
  });
}

/**
 * Only a registration names another directory as the common one. In that of a repository it makes every git read its
 * configuration and hooks elsewhere, and an agent in a container can write it.
 * @throws JackinError `GIT_DIRECTORY_REDIRECTED`
 */
export async function refuseRedirection(commonDir: string): Promise<void> {
  const path = join(commonDir, 'commondir');
  if (basename(dirname(commonDir)) === 'worktrees' || (await look(path)) === null) return;
  throw new JackinError({
    code: 'GIT_DIRECTORY_REDIRECTED',
    message: `${JSON.stringify(path)} makes every git in that repository read its configuration and hooks from another place, and nobody's git writes it`,
    hint: `Use no git there before you have looked at it and removed it: cat ${JSON.stringify(path)}`,
    details: { path },
  });
}

async function looksLikeGitDirectory(path: string): Promise<boolean> {
  const head = await look(join(path, 'HEAD'));
  if (head === null) return false;
  if ((await look(join(path, 'commondir'))) !== null) return true;
  const parts = await Promise.all(
    ['objects', 'refs'].map((name) => stat(join(path, name)).catch(() => null)),
  );
  return parts.every((part) => part?.isDirectory() === true);
}

function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
}
