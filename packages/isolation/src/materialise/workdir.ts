import { join, sep } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';

/**
 * Where a directory of the container is on this host: in the tree of the mount it lies in, or below its source. One
 * that is in no mount is itself. Pure.
 */
export function workdirOf(
  workdir: string,
  mounts: readonly { src: string; dst: string }[],
  records: readonly IsolationRecord[],
): string {
  const around = mounts
    .filter(({ dst }) => workdir === dst || workdir.startsWith(dst.endsWith(sep) ? dst : dst + sep))
    .sort((a, b) => b.dst.length - a.dst.length)[0];
  if (around === undefined) return workdir;
  const record = records.find(({ mount_dst }) => mount_dst === around.dst);
  return join(record?.worktree_path ?? around.src, workdir.slice(around.dst.length));
}
