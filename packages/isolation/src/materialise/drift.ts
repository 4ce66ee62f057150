import type { JackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { drift } from './refusals.ts';

/** What a mount is wanted as now. */
export interface WantedTree {
  dst: string;
  isolation: 'shared' | 'worktree' | 'clone';
  /** Canonical. */
  src: string;
}

/**
 * A recorded tree is used as it is, never as the other kind and never for another source. Pure
 * (docs/isolation.md#sources). What is shared now asks for no tree.
 * @returns the first `ISOLATION_DRIFT`; null when every recorded tree is what is wanted
 */
export function driftOf(
  records: readonly IsolationRecord[],
  wanted: readonly WantedTree[],
): JackinError | null {
  for (const mount of wanted) {
    const record = records.find(({ mount_dst }) => mount_dst === mount.dst);
    if (record === undefined || mount.isolation === 'shared') continue;
    if (record.isolation === mount.isolation && record.original_src === mount.src) continue;
    return drift(record, mount);
  }
  return null;
}
