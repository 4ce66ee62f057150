import { realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import { lockReason, namesOf, type Registration } from '../materialise/registration.ts';
import { look, readPointer } from '../materialise/source-directory.ts';
import { treeHome } from '../materialise/tree-path.ts';
import type { RegistrationFact } from './decide-divergence.ts';

/**
 * The registration of a record's tree: the one that points to it, or else the one of its name that we locked, whose
 * tree lay elsewhere.
 */
export async function ownRegistration(
  record: IsolationRecord,
  all: readonly Registration[],
): Promise<Registration | null> {
  const places = await namesOf(record.worktree_path);
  const pointing = all.find(({ points_to }) => points_to !== null && places.includes(points_to));
  if (pointing !== undefined) return pointing;
  const { registration = record.container_name, container_name } = record;
  const named = all.find(
    ({ name, locked }) => name === registration && locked === lockReason(container_name),
  );
  // A tree that is there is somebody's.
  if (named === undefined) return null;
  const elsewhere = named.points_to !== null && (await look(named.points_to)) !== null;
  return elsewhere ? null : named;
}

/** Why a tree is not where its record says: something on the way to it is a link, and what is behind it is not ours. */
export async function linkOnTheWay(record: IsolationRecord): Promise<string | null> {
  const { worktree_path: tree } = record;
  const home = treeHome(record);
  const [real, realHome] = await Promise.all([realpath(dirname(tree)), realpath(home)]);
  const here = real === join(realHome, relative(home, dirname(tree)));
  const isLink = (await look(tree))?.isSymbolicLink() === true;
  return here && !isLink ? null : `${tree} is reached through a link`;
}

/** How tree and repository know each other. @param branchThere the branch of the worktree is still there */
export async function registrationFact(
  record: IsolationRecord,
  own: Registration | null,
  branchThere: boolean,
): Promise<RegistrationFact> {
  const tree = record.worktree_path;
  const link = await linkOnTheWay(record);
  if (link !== null) return { state: 'unknown', reason: link };
  const dotGit = await look(join(tree, '.git'));
  if (dotGit !== null && !dotGit.isFile()) {
    return { state: 'unknown', reason: `${join(tree, '.git')} is not what makes it a worktree` };
  }
  if (own === null) {
    return branchThere
      ? { state: 'repairable', reason: 'its repository does not know the worktree any more' }
      : { state: 'unknown', reason: 'its repository knows neither the worktree nor its branch any more' };
  }
  const places = await namesOf(tree);
  if (own.points_to === null || !places.includes(own.points_to)) {
    return { state: 'repairable', reason: `its repository expects it at ${own.points_to ?? 'no place'}` };
  }
  const pointer = dotGit === null ? null : await readPointer(join(tree, '.git'));
  if (pointer === null) return { state: 'repairable', reason: 'its .git file is gone or names nothing' };
  const target = await realpath(pointer).catch(() => pointer);
  if (target === (await realpath(own.path))) return { state: 'ok' };
  return { state: 'repairable', reason: `its .git file leads to ${pointer}` };
}
