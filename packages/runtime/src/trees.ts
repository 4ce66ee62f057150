import { join } from 'node:path';
import { giveTree, type Owner } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import {
  type Assessment,
  assessRecord,
  containerMounts,
  type Divergence,
  type GitRunner,
  type Materialised,
  type MaterialisePlan,
  materialise,
  observeSource,
  type PathView,
  plantedSettings,
  prepareContainerView,
  type Removal,
  recreateTree,
  removeMaterialised,
  repairRegistration,
  scratchTip,
} from '@jackin/isolation';

/** Worktrees and clones on this host, as the flows need them. A tree that cannot be looked at is an answer. */
export interface Trees {
  /** What a tree holds. @param siblings the other trees of the instance, whose places it may name */
  assess(record: IsolationRecord, siblings: readonly IsolationRecord[]): Promise<Assessment>;
  /** Where the branch made for a worktree is; null when there is none, or it cannot be seen. */
  branchTip(record: IsolationRecord): Promise<string | null>;
  /** Keys of settings of its repository that may run programs and were not there when it was made. */
  planted(record: IsolationRecord): Promise<string[]>;
  /** What became of the repository it was made from. */
  divergence(record: IsolationRecord): Promise<Divergence>;
  /**
   * Makes a tree. A failure takes back its own half; `details.left` of its error names what is still there.
   * @param owner who works in it; default: the user of this process
   */
  materialise(plan: MaterialisePlan, owner: Owner | undefined): Promise<Materialised>;
  /** Sees to it that a container can write in the repository only what it may. @returns the record, to be written */
  prepareView(record: IsolationRecord): Promise<IsolationRecord>;
  /**
   * Links a worktree with its repository again.
   * @param source where that is now, when it was moved
   * @returns the record, to be written
   * @throws JackinError REPAIR_FAILED
   */
  repair(record: IsolationRecord, source: string | null): Promise<IsolationRecord>;
  /**
   * Checks a worktree out again whose directory is gone.
   * @throws JackinError TREE_EXISTS, STATE_CHANGED, BRANCH_IN_USE, MATERIALISE_FAILED
   */
  recreate(
    record: IsolationRecord,
    from: { branch: string; commit: string },
    owner: Owner | undefined,
  ): Promise<Materialised>;
  /**
   * Takes tree, registration and scratch branch away; what is gone already is no obstacle.
   * @param branchTip where the branch was when this was decided: one that moved since keeps everything
   * @throws JackinError TREE_PERMISSION, TREE_LOCKED, REPOSITORY_UNKNOWN, PATH_OUTSIDE
   */
  remove(record: IsolationRecord, branchTip: string | null): Promise<Removal>;
}

/** @param options.git runs every git process; default: git itself, hardened */
export function createTrees(options: { env: NodeJS.ProcessEnv; git?: GitRunner | undefined }): Trees {
  const common = { env: options.env, ...(options.git === undefined ? {} : { git: options.git }) };
  return {
    assess: (record, siblings) => assessRecord(record, { ...common, views: viewsOf(siblings) }),
    branchTip: (record) => scratchTip(record, common),
    planted: (record) => plantedSettings(record, common),
    divergence: (record) => observeSource(record, common),
    async materialise(plan, owner) {
      const made = await materialise(plan, common);
      await give(made.record, owner);
      return made;
    },
    prepareView: (record) => prepareContainerView(record, common),
    repair: (record, source) => repairRegistration(record, { ...common, source }),
    async recreate(record, from, owner) {
      const made = await recreateTree(record, from, common);
      await give(made.record, owner);
      return made;
    },
    remove: (record, branchTip) => removeMaterialised(record, { ...common, branchTip }),
  };
}

/** What the trees of an instance are called in its container: git files written there name them so. */
function viewsOf(records: readonly IsolationRecord[]): PathView[] {
  const mounts = records.map(({ original_src: src, mount_dst: dst, isolation }) => {
    return { src, dst, isolation, readonly: false };
  });
  return containerMounts(records, mounts, { overrides: '/' }).views;
}

/** Everything that was made for a tree belongs to whoever works in it, in the repository too. */
async function give(record: IsolationRecord, owner: Owner | undefined): Promise<void> {
  if (owner === undefined || owner.uid === process.getuid?.()) return;
  const { worktree_path: tree, git_common_dir: common, registration, scratch_branch: branch } = record;
  await giveTree(tree, owner);
  if (common === undefined) return;
  if (registration !== undefined) await giveTree(join(common, 'worktrees', registration), owner);
  const [top = branch] = branch.split('/');
  for (const place of [join('refs/heads', top), join('logs/refs/heads', top)]) {
    await giveTree(join(common, place), owner);
  }
}
