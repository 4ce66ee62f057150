import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ensurePrivateDir, JackinError, readFileBounded, writeFileDurable } from '@jackin/core';
import type { IsolationRecord, Manifest, Recipe } from '@jackin/instance';
import { containerMounts, driftOf, refuseLinkedMounts } from '@jackin/isolation';
import type { MountPoint } from '../backend.ts';
import { capsuleOwner } from '../decide/container-user.ts';
import type { StepContext } from './ports.ts';

const POINTER_BYTES = 4096;

export interface MountedTrees {
  mounts: readonly MountPoint[];
  /** For every process in the container, so that git works there on trees that are mounted. */
  env: Record<string, string>;
}

/**
 * Where the recipe's mounts come from on this host: shared ones from their source, worktrees and clones from their
 * trees, with the pointer files git needs at its paths in the container (docs/isolation.md#worktree).
 * @throws JackinError ISOLATION_DRIFT; SOURCE_LINKED where a link has taken the place of what a container must not write;
 * ISOLATION_NOT_MADE for an isolated mount without a tree: its source is never shared instead
 */
export async function mountedTrees(context: StepContext, recipe: Recipe): Promise<MountedTrees> {
  const { ports, base } = context;
  const isolation = await ports.store.readIsolation(base);
  const records = isolation.state === 'ok' ? isolation.records : [];
  const without = recipe.mounts.find(
    (mount) => mount.isolation !== 'shared' && !recordOf(records, mount.dst),
  );
  if (without !== undefined) throw notMade(base, without);
  // The source is the record's: a repository that was moved is recorded where it is now.
  const wanted = recipe.mounts.map(({ src, dst, isolation: kind }) => ({
    dst,
    isolation: kind,
    src: recordOf(records, dst)?.original_src ?? src,
  }));
  const drift = driftOf(records, wanted);
  if (drift !== null) throw drift;
  const { dir } = ports.paths.instance(base);
  const { mounts, files, env } = containerMounts(records, recipe.mounts, {
    overrides: join(dir, 'git', 'overrides'),
  });
  if (context.plan.backend === 'docker') await refuseLinkedMounts(records, mounts);
  const { manifest } = await context.ref();
  for (const { path, content } of files) await writePointer(path, content, manifest);
  return { mounts, env };
}

/** Before a container gets them: what it may not write in their repositories must be there to be protected. */
export async function prepareViews({ ports, base }: StepContext): Promise<void> {
  const isolation = await ports.store.readIsolation(base);
  if (isolation.state !== 'ok' || isolation.records.length === 0) return;
  const prepared: IsolationRecord[] = [];
  for (const record of isolation.records) prepared.push(await ports.trees.prepareView(record));
  if (isDeepStrictEqual(prepared, isolation.records)) return;
  await ports.store.changeIsolation(base, () => prepared);
}

function recordOf(records: readonly IsolationRecord[], dst: string): IsolationRecord | undefined {
  return records.find(({ mount_dst }) => mount_dst === dst);
}

/** A file a container has mounted is not replaced while it says the right thing. */
async function writePointer(path: string, content: string, manifest: Manifest): Promise<void> {
  const owner = capsuleOwner(manifest);
  if ((await readFileBounded(path, { maxBytes: POINTER_BYTES }))?.toString('utf8') === content) return;
  await ensurePrivateDir(dirname(path), owner);
  await writeFileDurable(path, content, { mode: 0o644, ...(owner === undefined ? {} : { owner }) });
}

function notMade(base: string, { dst, isolation }: Recipe['mounts'][number]): JackinError {
  return new JackinError({
    code: 'ISOLATION_NOT_MADE',
    message: `${base} has no ${isolation} for ${dst}: nothing records one, and its source is not shared instead`,
    hint: `Run \`jackin status ${base.split('-')[1] ?? base} --detail\`; a new session makes one: jackin load --new`,
    details: { mount_dst: dst, isolation },
  });
}
