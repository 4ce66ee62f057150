import type { Tri } from '@jackin/core';
import type { ExitCause, Status } from '@jackin/instance';
import type { IsolatedMountFact } from '../facts.ts';
import type { Classification } from './classify-exit.ts';
import { EXIT_POLICY_TABLE, type ExitEffect, type ExitPolicy, treeState } from './exit-policy-table.ts';
import { exitWording } from './exit-wording.ts';
import { keptStatus } from './instance-kind.ts';

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
  | { action: 'clean'; reason: string }
  | { action: 'ask'; unfinished: IsolatedMountFact[]; reason: string };

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
  if (classification.status === 'purged' && input.policy.value !== 'keep') {
    return { action: 'clean', reason: 'its clean-up had begun' };
  }
  if (!classification.exit_flow) {
    return { action: 'record', status: classification.status, cause: classification.cause };
  }
  return decideCleanEnd(input);
}

/** By the policy table, unless the operator has answered; not even that removes a tree nobody could look at. */
function decideCleanEnd({ policy, canAsk, isolated, choice }: ExitInput): ExitDecision {
  const tree = treeState(isolated);
  const rule = EXIT_POLICY_TABLE[policy.value][tree];
  const wording = (effect: ExitEffect) => exitWording(effect, policy, isolated);
  const keep = (intent: 'operator' | 'policy' | 'could_not_ask', reason: string): ExitDecision => ({
    action: 'keep',
    intent,
    status: keptStatus(isolated),
    reason,
  });
  if (choice === 'keep') return keep('operator', 'the operator chose to keep it');
  if (choice === 'clean' && tree !== 'unknown') {
    return { action: 'clean', reason: 'the operator chose to clean it up' };
  }
  const effect = choice === 'clean' ? 'keep_unseen' : canAsk ? rule.terminal : rule.no_terminal;
  switch (effect) {
    case 'clean':
      return { action: 'clean', reason: wording(effect) };
    case 'keep':
      return keep(policy.source === 'flag' ? 'operator' : 'policy', wording(effect));
    case 'keep_unasked':
    case 'keep_unseen':
      return keep('could_not_ask', wording(effect));
    case 'ask':
      return {
        action: 'ask',
        unfinished: isolated.filter(({ verdict }) => verdict !== 'clean'),
        reason: wording(effect),
      };
  }
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
