import type { Status } from '@jackin/instance';
import type { IsolatedMountFact } from '../facts.ts';

/** Statuses of an instance somebody decided to keep, or whose container is gone: state on disk, nothing running. */
export const KEPT_STATUSES: ReadonlySet<Status> = new Set<Status>([
  'preserved_dirty',
  'preserved_unpushed',
  'restore_available',
]);

/** Statuses no observation changes any more. */
export const FINAL_STATUSES: ReadonlySet<Status> = new Set<Status>(['superseded', 'purged']);

/** What the mount records say of trees that are kept; one nobody could look at counts as dirty. */
export function keptTrees(
  isolated: readonly IsolatedMountFact[],
): Record<string, 'active' | 'preserved_dirty' | 'preserved_unpushed'> {
  const recorded = isolated.filter(({ record }) => record != null);
  return Object.fromEntries(
    recorded.map(({ mount_dst, verdict }) => [
      mount_dst,
      verdict === 'clean' ? 'active' : verdict === 'unpushed' ? 'preserved_unpushed' : 'preserved_dirty',
    ]),
  );
}

/**
 * The status after KEEP (docs/status-and-causes.md#keep): by what the isolated mounts hold. A tree nobody could
 * look at counts as dirty.
 */
export function keptStatus(isolated: readonly IsolatedMountFact[]): Status {
  const verdicts = new Set(isolated.map((mount) => mount.verdict));
  if (verdicts.has('dirty') || verdicts.has('unknown')) return 'preserved_dirty';
  return verdicts.has('unpushed') ? 'preserved_unpushed' : 'restore_available';
}
