import { basename, dirname, join } from 'node:path';
import { readFileBounded } from '@jackin/core';
import { refTip } from './ref-tip.ts';
import { type Registration, registrationsOf } from './registration.ts';
import type { RepositoryGit } from './repository-git.ts';
import { commonDirectoryOf } from './source-directory.ts';

const HEAD_BYTES = 4096;

/**
 * Where our branch is, and which tree has it checked out: another one if there is any, else ours.
 * @param going trees that go with ours
 */
export async function branchOf(
  git: RepositoryGit,
  name: string,
  own: Pick<Registration, 'points_to'> | null,
  tree: string,
  going: readonly string[] = [],
): Promise<{ commit: string; checked_out: string | null } | null> {
  if (name === '') return null;
  const ref = `refs/heads/${name}`;
  const commit = await refTip(git, ref);
  if (commit === null) return null;
  const all = await checkouts(await commonDirectoryOf(git.gitDir));
  const trees = all.filter((one) => one.ref === ref).map((one) => one.tree);
  const ours = (path: string) =>
    path === tree || join(path, '.git') === own?.points_to || going.includes(path);
  const other = trees.find((path) => !ours(path));
  const checked_out = other ?? (trees.length > 0 ? tree : null);
  return { commit, checked_out };
}

/**
 * The trees of a repository with the ref each has checked out; git lets somebody who insists do so more than once. Read
 * here: a git that lists worktrees waits for a pipe in any of their registrations.
 */
export async function checkouts(commonDir: string): Promise<{ ref: string; tree: string }[]> {
  const all = await registrationsOf(commonDir);
  const main = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
  const places = [
    { head: join(commonDir, 'HEAD'), tree: main },
    ...all.map(({ path, points_to }) => ({
      head: join(path, 'HEAD'),
      tree: points_to === null ? path : dirname(points_to),
    })),
  ];
  const found = await Promise.all(
    places.map(async ({ head, tree }) => {
      const text = await readFileBounded(head, { maxBytes: HEAD_BYTES }).catch(() => null);
      const ref = /^ref: (.+?)\s*$/.exec(text?.toString('utf8') ?? '')?.[1];
      return ref === undefined ? [] : [{ ref, tree }];
    }),
  );
  return found.flat();
}
