import { randomUUID } from 'node:crypto';
import { type Edited, renameWorkspace } from '@jackin/config';
import { toJackinError } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import { planRenameWorkspace } from '../../decide/plan-rename-workspace.ts';
import { withInstanceLock } from '../locking.ts';
import type { World } from '../world.ts';
import type { ConfigurationResult, EditDocument } from './documents.ts';
import { editResult } from './edit-result.ts';
import { manifestsOf, workspaceInstance } from './workspace-instances.ts';

const INSTANCE_WAIT_MS = 5_000;

interface RenameRequest {
  from: string;
  to: string;
  dryRun: boolean;
}

/**
 * `jackin workspace rename OLD NEW` (docs/configuration.md#renaming-a-workspace): the file first, then the records of its
 * instances, so that `load` offers them and the workspace's exit policy goes on to apply to them. One that cannot be
 * written now is named, exit code 1; the same command brings it along later.
 */
export async function rename(world: World, request: RenameRequest): Promise<ConfigurationResult> {
  const { from, to, dryRun } = request;
  const manifests = await manifestsOf(world, from);
  const edited = await renamed(world, request, manifests.length > 0);
  const instances: EditDocument['instances'] = [];
  if (from !== to) for (const one of manifests) instances.push(await bringAlong(world, one, request));
  return editResult('renamed', `workspace ${from} to ${to}`, edited, dryRun, instances);
}

/** Interrupted after the file was renamed, only instances are left to do. */
async function renamed(world: World, { from, to, dryRun }: RenameRequest, left: boolean): Promise<Edited> {
  const { events, paths } = world;
  try {
    return await renameWorkspace(paths, from, to, { events, dryRun });
  } catch (thrown) {
    const error = toJackinError(thrown);
    if (error.code !== 'WORKSPACE_NOT_FOUND' || !left) throw error;
    const { sources, workspaces } = await world.config();
    if (!workspaces.has(to)) throw error;
    return { file: sources?.workspaces.get(to)?.file ?? '', changed: true, changes: [] };
  }
}

async function bringAlong(
  world: World,
  manifest: Manifest,
  { from, to, dryRun }: RenameRequest,
): Promise<EditDocument['instances'][number]> {
  const { container_base: base } = manifest;
  const instance = workspaceInstance(manifest);
  if (dryRun) return { ...instance, effect: `would belong to ${to}`, done: true };
  try {
    const lock = { purpose: `rename workspace ${from} to ${to}`, waitMs: INSTANCE_WAIT_MS };
    const plan = planRenameWorkspace({ planId: randomUUID(), manifest, from, to });
    await withInstanceLock(world, base, lock, (held) => world.run(plan, held));
    return { ...instance, effect: `belongs to ${to}`, done: true };
  } catch (thrown) {
    const { message } = toJackinError(thrown);
    const next = `run the same command again: ${message}`;
    return { ...instance, effect: `still says ${from}; ${next}`, done: false };
  }
}
