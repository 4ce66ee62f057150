export { assess } from './assess/assess.ts';
export type { AssessOptions } from './assess/context.ts';
export { DEPENDENCY_DIRECTORIES } from './assess/directories.ts';
export type { AssessLimits } from './assess/limits.ts';
export { assessRecord, type RecordContext, type SnapshotOptions, snapshotRefs } from './assess/snapshot.ts';
export { observeSource } from './divergence/observe-source.ts';
export { recreateTree } from './divergence/recreate-tree.ts';
export { type RepairOptions, repairRegistration } from './divergence/repair-registration.ts';
export { type CountedGit, countedGit, type GitRunner } from './git-runner.ts';
export {
  type ContainerMount,
  type ContainerView,
  containerMounts,
  type WantedMount,
} from './materialise/container-mounts.ts';
export { driftOf, type WantedTree } from './materialise/drift.ts';
export { inspectSource } from './materialise/inspect-source.ts';
export { refuseLinkedMounts } from './materialise/linked-paths.ts';
export { type Materialised, materialise } from './materialise/materialise.ts';
export {
  type MaterialiseDecision,
  type MaterialiseInput,
  type MaterialisePlan,
  planMaterialise,
} from './materialise/plan-materialise.ts';
export { prepareContainerView } from './materialise/prepare-container-view.ts';
export type { IsolatedMount } from './materialise/refusals.ts';
export type { GitContext } from './materialise/repository-git.ts';
export type { ScratchBranch, SourceFacts, SubmoduleFact } from './materialise/source-facts.ts';
export { treePathOf } from './materialise/tree-path.ts';
export { plantedSettings } from './planted/program-settings.ts';
export { type Removal, type RemovalOptions, removeMaterialised } from './removal/remove-materialised.ts';
export { scratchTip } from './removal/scratch-tip.ts';
export * from './types.ts';
