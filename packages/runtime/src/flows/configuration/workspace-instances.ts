import type { Manifest } from '@jackin/instance';
import type { World } from '../world.ts';
import type { WorkspaceInstance } from './documents.ts';

/** The instances that were made in a workspace, newest first. A record that cannot be read names none. */
export async function manifestsOf(world: World, workspace: string): Promise<Manifest[]> {
  const { instances } = await world.store.load();
  return instances.filter((one) => one.workspace_name === workspace);
}

export function workspaceInstance({ instance_id, container_base, status }: Manifest): WorkspaceInstance {
  return { instance_id, container_base, status };
}
