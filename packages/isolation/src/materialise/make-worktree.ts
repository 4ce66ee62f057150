import { join } from 'node:path';
import { gitWords, JackinError, removeTree, succeeded } from '@jackin/core';
import { snapshotRefs } from '../assess/snapshot.ts';
import { programSettings } from '../planted/program-settings.ts';
import { branchOf } from './branch-of.ts';
import { embedSubmodules, lfsChoice } from './embed-submodules.ts';
import type { MaterialisePlan } from './plan-materialise.ts';
import {
  dropRegistration,
  lockReason,
  refuseStrangeFiles,
  registrationOf,
  registrationsOf,
  removeIfEmpty,
} from './registration.ts';
import { CHECKOUT_MS, type GitContext, line, type RepositoryGit, repositoryGit } from './repository-git.ts';
import { look } from './source-directory.ts';
import { withoutFilters } from './source-settings.ts';
import type { Undo } from './undo.ts';

export interface Made {
  /** Of the record. */
  fields: {
    scratch_branch: string;
    refs_at_launch: Record<string, string>;
    git_common_dir?: string;
    registration?: string;
    settings_at_launch?: string[];
  };
  notices: string[];
}

/** A linked worktree on a branch of its own, locked (docs/isolation.md#worktree). Everything it makes is in `undo`. */
export async function makeWorktree(plan: MaterialisePlan, context: GitContext, undo: Undo): Promise<Made> {
  const { tree, common_dir: commonDir, container, base_commit: base } = plan;
  const branch = plan.scratch?.name ?? '';
  const git = repositoryGit(commonDir, context, [plan.src]);
  // Undoing goes on when the rest was told to stop.
  const undoing = repositoryGit(commonDir, { ...context, signal: undefined }, [plan.src]);
  const directory = join(commonDir, 'worktrees');
  const fresh = (await look(directory)) === null;
  const before = (await registrationsOf(commonDir)).map(({ name }) => name);
  await refuseStrangeFiles(commonDir);
  await placeBranch(git, undoing, plan, undo);
  undo.add(`the registration of ${tree} in ${commonDir}`, async () => {
    await dropHalf(commonDir, tree, container, before);
    // Git that undoes its own half leaves this one.
    if (fresh) await removeIfEmpty(directory);
  });
  undo.add(tree, () => removeTree(tree, { inside: join(tree, '..') }));
  await git.must(['worktree', 'add', '-q', '--lock', '--reason', lockReason(container), tree, branch], {
    timeoutMs: CHECKOUT_MS,
    settings: [
      // Would add an extension to the repository's configuration.
      'worktree.useRelativePaths=false',
      ...(withoutFilters(plan.filters) ?? []),
      ...(plan.lfs === 'none' ? [] : lfsChoice(plan.lfs === 'pointers')),
    ],
  });
  const registration = await registrationOf(commonDir, tree);
  const head = registration === null ? null : await headOf(registration.path, context, tree);
  if (registration === null || head !== base) throw notAsPlanned(plan, head);
  const settings = await programSettings(commonDir, context);
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
  return {
    fields: {
      scratch_branch: branch,
      refs_at_launch: await snapshotRefs(tree),
      git_common_dir: commonDir,
      registration: registration.name,
      // Of a configuration that could not be read nothing is known, so everything in it is new.
      settings_at_launch: settings ?? [],
    },
    notices,
  };
}

/** The branch at the base commit: made, or moved there from where it was left. */
async function placeBranch(
  git: RepositoryGit,
  undoing: RepositoryGit,
  { scratch, base_commit: base, tree }: MaterialisePlan,
  undo: Undo,
): Promise<void> {
  if (scratch === null) throw new Error('a worktree without a branch');
  const ref = `refs/heads/${scratch.name}`;
  const back = async () => {
    const now = await branchOf(undoing, scratch.name, null, tree);
    // One that is checked out is somebody's who was faster.
    if (now?.commit !== base || now.checked_out !== null || scratch.adopt === base) return;
    const command = scratch.adopt === null ? ['-d', ref, base] : [ref, scratch.adopt, base];
    await undoing.must(['update-ref', ...command]);
  };
  // The old value makes sure that nobody has moved or made it since it was looked at.
  const update = ['update-ref', ref, base, scratch.adopt ?? '0'.repeat(base.length)];
  const result = await git.run(update).catch((error: unknown) => {
    undo.add(`the branch ${scratch.name}`, back);
    throw error;
  });
  // Refused is not made; ended in the middle may be.
  if (result.exitCode === 0 || result.exitCode === null) undo.add(`the branch ${scratch.name}`, back);
  if (succeeded(result)) return;
  throw new JackinError({
    code: 'GIT_FAILED',
    message: `the branch ${scratch.name} could not be placed: ${gitWords(result)}`,
  });
}

/** Also one that git had only begun to write when it was ended. */
async function dropHalf(commonDir: string, tree: string, container: string, before: string[]): Promise<void> {
  const own = await registrationOf(commonDir, tree);
  if (own !== null) return await dropRegistration(commonDir, own.name);
  const begun = (await registrationsOf(commonDir)).filter(
    ({ name, points_to }) =>
      points_to === null &&
      name.startsWith(container) &&
      /^\d*$/.test(name.slice(container.length)) &&
      !before.includes(name),
  );
  for (const { name } of begun) await dropRegistration(commonDir, name);
}

async function headOf(gitDir: string, context: GitContext, tree: string): Promise<string> {
  const git = repositoryGit(gitDir, context, [tree]);
  return line(await git.must(['rev-parse', '--verify', '-q', 'HEAD^{commit}']));
}

function notAsPlanned(plan: MaterialisePlan, head: string | null): JackinError {
  return new JackinError({
    code: 'GIT_FAILED',
    message: `git worktree add left ${JSON.stringify(plan.tree)} at ${head ?? 'nothing'} instead of ${plan.base_commit}`,
  });
}
