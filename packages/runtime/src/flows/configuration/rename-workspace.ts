import { randomUUID } from 'node:crypto';
import { renameWorkspace } from '@jackin/config';
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
 * `jackin workspace rename OLD NEW` (docs/configuration.md#renaming-a-workspace): the records of its instances first,
 * then the file, so that the workspace's exit policy goes on to apply to them. An instance that cannot be written now is
 * named, exit code 1, and the file keeps its name until the same command brings that one along. Between the two an
 * instance belongs to a workspace that is not there yet, and is kept at its end.
 */
export async function rename(world: World, request: RenameRequest): Promise<ConfigurationResult> {
  const { from, to, dryRun } = request;
  const { events, paths } = world;
  // Both names are checked before any record is written: the new one may be somebody else's.
  const checked = await renameWorkspace(paths, from, to, { events, dryRun: true });
  const instances: EditDocument['instances'] = [];
  const manifests = from === to ? [] : await manifestsOf(world, from);
  for (const one of manifests) instances.push(await bringAlong(world, one, request));
  const ready = !dryRun && instances.every(({ done }) => done);
  const edited = ready ? await renameWorkspace(paths, from, to, { events, dryRun }) : checked;
  const changed = edited.changed && (ready || dryRun);
  return editResult('renamed', `workspace ${from} to ${to}`, { ...edited, changed }, dryRun, instances);
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
