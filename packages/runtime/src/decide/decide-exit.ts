import type { Tri } from '@jackin/core';
import type { ExitCause, Status } from '@jackin/instance';
import type { IsolatedMountFact } from '../facts.ts';
import type { Classification } from './classify-exit.ts';
import { keptStatus } from './instance-kind.ts';

export interface ExitPolicy {
  value: 'ask' | 'keep' | 'clean';
  source: 'flag' | 'workspace' | 'global' | 'default';
}

export interface ExitInput {
  classification: Classification;
  policy: ExitPolicy;
  /** Somebody can be asked. */
  canAsk: boolean;
  isolated: readonly IsolatedMountFact[];
  /** Another agent or terminal of this instance is alive. Not knowing counts as alive. */
  otherSessionsAlive: Tri;
  /** The operator's answer, once asked. */
  choice: 'keep' | 'clean' | null;
}

export type ExitDecision =
  | { action: 'leave_running'; reason: string }
  /** Not a clean end: everything is kept, whatever policy or flag say. */
  | { action: 'record'; status: Status; cause: ExitCause | null }
  | { action: 'keep'; intent: 'operator' | 'policy' | 'could_not_ask'; status: Status; reason: string }
  | { action: 'clean' }
  | { action: 'ask'; unfinished: IsolatedMountFact[] };

/**
 * What happens to an instance whose foreground session ended (docs/status-and-causes.md#exit-decision). A tree
 * nobody could look at is never cleaned up here, not even when the operator insists: only `purge` may do that.
 */
export function decideExit(input: ExitInput): ExitDecision {
  const { classification, otherSessionsAlive } = input;
  if (classification.outcome !== 'ended') return { action: 'leave_running', reason: whyLeft(classification) };
  if (otherSessionsAlive !== 'no') {
    const reason = otherSessionsAlive === 'yes' ? 'another session is alive' : 'other sessions may be alive';
    return { action: 'leave_running', reason };
  }
  // A clean-up that had begun was decided then, and half an instance is nothing to come back to.
  if (classification.status === 'purged' && input.policy.value !== 'keep') return { action: 'clean' };
  if (!classification.exit_flow) {
    return { action: 'record', status: classification.status, cause: classification.cause };
  }
  return decideCleanEnd(input);
}

function decideCleanEnd({ policy, canAsk, isolated, choice }: ExitInput): ExitDecision {
  const unfinished = isolated.filter((mount) => mount.verdict !== 'clean');
  const keep = (intent: 'operator' | 'policy' | 'could_not_ask', reason: string): ExitDecision => ({
    action: 'keep',
    intent,
    status: keptStatus(isolated),
    reason,
  });
  const clean = (): ExitDecision => {
    const unseen = isolated.find((mount) => mount.verdict === 'unknown');
    if (unseen === undefined) return { action: 'clean' };
    return keep('could_not_ask', `${unseen.mount_dst} could not be assessed: ${unseen.reason}`);
  };
  if (choice === 'keep') return keep('operator', 'the operator chose to keep it');
  if (choice === 'clean') return clean();
  if (policy.value === 'keep') {
    return policy.source === 'flag'
      ? keep('operator', '--keep was given')
      : keep('policy', `the ${policy.source} policy is keep`);
  }
  if (policy.value === 'clean' || unfinished.length === 0) return clean();
  if (canAsk) return { action: 'ask', unfinished };
  return keep('could_not_ask', 'it has unfinished work and nobody can be asked');
}

function whyLeft(classification: Exclude<Classification, { outcome: 'ended' }>): string {
  switch (classification.outcome) {
    case 'alive':
      if (classification.agent === 'alive') return 'an agent is alive';
      return classification.agent === 'unknown'
        ? 'whether an agent is alive is not known'
        : 'the container still runs and nobody saw how its agent ended';
    case 'launching':
      return `process ${classification.owner.pid} works on it (${classification.owner.purpose})`;
    case 'unobservable':
      return `${classification.shown_as}: ${classification.reason}`;
  }
}
