import { join } from 'node:path';
import { removeTree } from '@jackin/core';
import { snapshotRefs } from '../assess/snapshot.ts';
import { embedSubmodules, lfsChoice } from './embed-submodules.ts';
import type { Made } from './make-worktree.ts';
import { publicAddress } from './origin-address.ts';
import type { MaterialisePlan } from './plan-materialise.ts';
import { populate } from './populate.ts';
import { type GitContext, type RepositoryGit, repositoryGit } from './repository-git.ts';
import type { Undo } from './undo.ts';

/** A repository of its own at the host's commit (docs/isolation.md#clone). */
export async function makeClone(plan: MaterialisePlan, context: GitContext, undo: Undo): Promise<Made> {
  const { tree, common_dir: commonDir } = plan;
  undo.add(tree, () => removeTree(tree, { inside: join(tree, '..') }));
  const { git, leftOut } = await populate(
    {
      source: repositoryGit(commonDir, context, [plan.src]),
      sourceCommonDir: commonDir,
      target: tree,
      objectFormat: plan.object_format,
      commit: plan.base_commit,
      branch: plan.host_branch,
      origin: plan.origin,
      settings: plan.lfs === 'none' ? [] : lfsChoice(plan.lfs === 'pointers'),
    },
    context,
  );
  const notices = await embedSubmodules(
    {
      source: plan.src,
      within: [plan.src, plan.git_dir, commonDir],
      tree,
      submodules: plan.submodules,
      pointers: plan.lfs === 'pointers',
    },
    context,
  );
  await registerSubmodules(git, plan);
  if (leftOut.length > 0) notices.unshift(leftOutWords(plan, leftOut));
  return {
    fields: { scratch_branch: plan.host_branch ?? '', refs_at_launch: await snapshotRefs(tree) },
    notices,
  };
}

/** As `git submodule init` would, with addresses that hold no credentials. */
async function registerSubmodules(git: RepositoryGit, plan: MaterialisePlan): Promise<void> {
  for (const { name, url, commit, initialised } of plan.submodules) {
    // A relative address is relative to the origin, which git works out by itself when it is asked to update.
    if (!initialised || commit === null || url === null || /^\.\.?\//.test(url)) continue;
    const address = publicAddress(url, plan.src);
    if (address === null) continue;
    await git.must(['config', `submodule.${name}.url`, address]);
  }
}

function leftOutWords({ host_branch: branch }: MaterialisePlan, names: string[]): string {
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? `, and ${names.length - 5} more` : '');
  const has = branch === null ? 'no local branch' : `the branch ${branch} only`;
  return `The clone has ${has}; these of the host are not in it: ${shown}.`;
}
