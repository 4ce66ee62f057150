import type { InstanceFacts } from '../facts.ts';

/**
 * Whether an instance was brought back to life between two looks: it runs now, and did not, or was only about to. Of a
 * restore and a removal at once the removal gives way (docs/status-and-causes.md#clean).
 */
export function wasRevived(before: InstanceFacts, now: InstanceFacts): boolean {
  const runs = ({ observation }: InstanceFacts): boolean => observation.container.state === 'running';
  const ran = runs(before) && before.manifest.status === 'running';
  return runs(now) && now.manifest.status === 'running' && !ran;
}
