import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import { isInside } from '../assess/read.ts';
import { branchOf } from '../materialise/branch-of.ts';
import { lockReason, namesOf, type Registration, registrationsOf } from '../materialise/registration.ts';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';
import { findSource, look, presence } from '../materialise/source-directory.ts';
import { instanceOf, treeHome } from '../materialise/tree-path.ts';
import type { RemovalFacts } from './plan-removal.ts';

/** @throws JackinError `GIT_MISSING`; the signal's reason when aborted */
export async function observeRemoval(record: IsolationRecord, context: GitContext): Promise<RemovalFacts> {
  const tree = await presence(record.worktree_path);
  const nothing = { tree, registration: null, added: [], branch: null, others: false, common_dir: null };
  if (record.isolation === 'clone') return { ...nothing, repository: 'no' };
  // A record of an older program names only the source.
  const found = record.git_common_dir === undefined ? await findSource(record.original_src) : null;
  const common = record.git_common_dir ?? found?.common_dir ?? null;
  const none = { ...nothing, common_dir: common };
  if (common === null) {
    const gone = found?.problem === null || (await presence(record.original_src)) === 'no';
    return { ...none, repository: gone ? 'no' : 'unknown' };
  }
  try {
    if (!(await isRepository(common))) return { ...none, repository: 'no' };
    const git = repositoryGit(common, context, [record.original_src]);
    const all = await registrationsOf(common);
    const places = await namesOf(record.worktree_path);
    const own = all.find(({ points_to }) => points_to !== null && places.includes(points_to)) ?? null;
    const added = await addedBy(
      record,
      all.filter((entry) => entry !== own),
    );
    return {
      tree,
      common_dir: common,
      repository: 'yes',
      registration: own === null ? null : { name: own.name, locked: own.locked },
      added,
      branch: await branchOf(
        git,
        record.scratch_branch,
        own,
        record.worktree_path,
        added.map(({ path }) => path),
      ),
      others: all.some((entry) => entry !== own && entry.locked?.startsWith(lockReason('')) === true),
    };
  } catch (error) {
    context.signal?.throwIfAborted();
    if (error instanceof Error && 'code' in error && error.code === 'GIT_MISSING') throw error;
    return { ...none, repository: 'unknown' };
  }
}

/** Those of worktrees in the tree, or in the session's own directory, that no record names: they go with it. */
async function addedBy(
  record: IsolationRecord,
  all: readonly Registration[],
): Promise<RemovalFacts['added']> {
  const instance = await canonical(instanceOf(treeHome(record)));
  const tree = await canonical(record.worktree_path);
  const added: RemovalFacts['added'] = [];
  for (const { name, points_to: pointer } of all) {
    if (pointer === null) continue;
    const place = await canonical(dirname(pointer));
    // Trees of other records are at the names jackin gives them.
    const recorded = isInside(place, join(instance, 'git')) && basename(place) === record.container_name;
    if (isInside(place, tree) || (isInside(place, instance) && !recorded)) {
      added.push({ name, path: dirname(pointer) });
    }
  }
  return added;
}

/** Of what is not there any more, where it was. */
async function canonical(path: string): Promise<string> {
  const above = async () => join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  return await realpath(path).catch(above);
}

/** @throws what keeps it from being looked at */
export async function isRepository(commonDir: string): Promise<boolean> {
  const parts = await Promise.all(['HEAD', 'objects', 'refs'].map((name) => look(join(commonDir, name))));
  return parts.every((part) => part !== null);
}
