import { lstat } from 'node:fs/promises';
import { removeStaleCgroups } from '@jackin/capsule';
import { JackinError, removeTree } from '@jackin/core';
import type { InstanceRef } from '../backend.ts';
import type { CapsuleProcess } from './find-capsule.ts';
import type { StandaloneOptions } from './options.ts';
import { chooseSocket, shortDirsOf } from './socket-path.ts';
import { unobservable } from './stop.ts';

/**
 * "Removes" the process: what is left of it outside the instance's own directories, which is the short runtime
 * directory and its control groups. Refused while anything of it runs: CONTAINER_RUNNING; while that cannot be seen: INSTANCE_UNOBSERVABLE.
 */
export async function removeProcessTraces(
  ref: InstanceRef,
  found: CapsuleProcess,
  options: StandaloneOptions,
): Promise<'removed' | 'absent'> {
  if (found.state === 'unknown') throw unobservable(ref.container_base, found.reason);
  if (found.state === 'alive') throw stillRunning(ref, [found.identity.pid]);
  if (found.leftovers.length > 0) {
    throw stillRunning(
      ref,
      found.leftovers.map(({ pid }) => pid),
    );
  }
  const recorded = ref.manifest.backend?.standalone;
  const preferred = options.paths.instance(ref.container_base).socket;
  const choice = chooseSocket(preferred, ref.instance_id, options.env);
  // A killed capsule could not take its agents' control groups away.
  let removed = removeStaleCgroups(ref.instance_id).length > 0 || recorded != null;
  for (const { root, dir } of shortDirsOf(choice, recorded?.socket, ref.instance_id)) {
    if (!(await isDirectory(dir))) continue;
    await removeTree(dir, { inside: root });
    removed = true;
  }
  return removed ? 'removed' : 'absent';
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function stillRunning(ref: InstanceRef, pids: number[]): JackinError {
  return new JackinError({
    code: 'CONTAINER_RUNNING',
    message: `${ref.container_base} still runs (process ${pids.join(', ')}), so it was not removed`,
    hint: `Run \`jackin stop ${ref.instance_id}\` first.`,
    details: { pids },
  });
}
