import type { IndexRow } from '@jackin/instance';
import type { Notice } from './reconcile.ts';

/** What to say of an instance of which only the index row is left, and the command that finishes it. */
export function rowOnly({ container_base, instance_id, status }: IndexRow): Notice & { hint: string } {
  const hint = `Finish it with: jackin purge ${instance_id}`;
  return status === 'purged'
    ? { code: 'CLEANUP_INTERRUPTED', message: `The clean-up of ${container_base} was interrupted`, hint }
    : {
        code: 'DIRECTORY_REMOVED',
        message: `The directory of ${container_base} was removed by someone else; if it had a worktree, its repository still has the branch jackin/scratch/${container_base} and a locked registration (git worktree list)`,
        hint,
      };
}
