import type { IsolatedMountFact } from '../facts.ts';
import type { ExitEffect, ExitPolicy } from './exit-policy-table.ts';

/**
 * What the operator is told about an exit decision: who said so, and what went or stays because of it
 * (docs/exit-policy.md#every-combination).
 */
export function exitWording(
  effect: ExitEffect,
  policy: ExitPolicy,
  isolated: readonly IsolatedMountFact[],
): string {
  const unfinished = isolated.filter(({ verdict }) => verdict !== 'clean');
  switch (effect) {
    case 'ask':
      return `${isolatedMounts(unfinished.length)} unfinished work.`;
    case 'keep':
      return saidBy(policy);
    case 'keep_unasked':
      return `it has unfinished work (${list(unfinished)}) and nobody can be asked`;
    case 'keep_unseen': {
      const unseen = isolated.find(({ verdict }) => verdict === 'unknown');
      return `${unseen?.mount_dst} could not be assessed: ${unseen?.reason}`;
    }
    case 'clean':
      if (policy.value === 'ask') {
        const why =
          isolated.length === 0 ? 'there is no worktree or clone' : 'no worktree or clone is unfinished';
        return `${saidBy(policy)}: ${why}, so its home and conversation went too; --keep would have kept them`;
      }
      return unfinished.length === 0
        ? saidBy(policy)
        : `${saidBy(policy)}: unfinished work went too (${list(unfinished)})`;
  }
}

function saidBy({ value, source }: ExitPolicy): string {
  if (source === 'flag') return `--${value} was given`;
  if (source === 'workspace_missing')
    return `its workspace is not in the configuration any more, which means ${value}`;
  return source === 'default' ? `no policy is set, which means ${value}` : `the ${source} policy is ${value}`;
}

function isolatedMounts(count: number): string {
  return `${count} isolated mount${count === 1 ? ' has' : 's have'}`;
}

function list(mounts: readonly IsolatedMountFact[]): string {
  return mounts.map(({ mount_dst, verdict }) => `${mount_dst} ${verdict}`).join(', ');
}
