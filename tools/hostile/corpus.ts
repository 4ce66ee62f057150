import type { IsolationRecord } from '@jackin/instance';
import type { Plant } from './plant.ts';
import { programs } from './programs.ts';
import { readers } from './readers.ts';
import { CONTAINER, type Scene } from './scene.ts';
import { shapes } from './shapes.ts';

export type { Plant } from './plant.ts';
export { hostileScene, type Scene } from './scene.ts';

/** What an instance would have recorded of the tree. */
export function recordOf(scene: Scene): IsolationRecord {
  return {
    workspace: 'w',
    mount_dst: '/workspace',
    original_src: scene.host,
    isolation: scene.kind,
    worktree_path: scene.tree,
    scratch_branch: scene.scratchBranch ?? '',
    base_commit: scene.base,
    selector_key: 'k',
    container_name: CONTAINER,
    cleanup_status: 'active',
    refs_at_launch: scene.refsAtLaunch,
    host_branch: 'main',
    ...(scene.kind === 'worktree' ? { git_common_dir: scene.commonDir, registration: CONTAINER } : {}),
  };
}

/** Every way we know to make a git on the host run, read or believe what somebody planted in a tree. */
export const corpus: readonly Plant[] = [...programs, ...readers, ...shapes];
