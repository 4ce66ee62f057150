import { JackinError } from '@jackin/core';
import type { RestorePlan } from '../decide/plan-restore.ts';
import { chooseImage } from '../decide/restore-image.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { World } from './world.ts';

export interface RestoreConsent {
  /** Fall to a lower tier and lose what cannot return. */
  acceptLoss: boolean;
  /** Use an image that may not be the recorded one. */
  allowDrift: boolean;
  /** Where the repository of a worktree is now, when it was moved. */
  source?: string | null;
  /** The operator has just left it and wants its agent back: whatever became of a repository, it is returned to. */
  returning?: boolean;
}

/**
 * The plan of a restore, once everything it would lose was agreed to: by the flags, or by the operator.
 * @throws JackinError what blocks the restore; RESTORE_DECLINED; DECISION_NEEDED (exit 3) when nobody can be asked
 */
export async function agreedPlan(
  world: World,
  facts: InstanceFacts,
  restore: RestorePlan,
  consent: RestoreConsent,
): Promise<Plan> {
  if (restore.outcome === 'blocked') throw restore.error;
  if (restore.outcome === 'plan') return restore.plan;
  const { plan, reason } = restore;
  const missing = missingFlags(facts, reason, consent);
  if (missing.length === 0) return plan;
  const id = facts.instance_id;
  if (!world.prompts.available) {
    throw new JackinError({
      code: 'DECISION_NEEDED',
      message: `${facts.container_base} can only come back with losses: ${reason}`,
      hint: `Agree to it with: jackin resume ${id} ${missing.join(' ')}`,
      details: { reason, did_not_return: plan.did_not_return, flags: missing },
      exitCode: 3,
    });
  }
  const agreed = await world.prompts.confirm({
    title: `resume ${facts.container_base} with losses`,
    removes: [],
    warnings: [reason, ...plan.did_not_return.map((what) => `cannot return: ${what.replaceAll('_', ' ')}`)],
  });
  if (agreed) return plan;
  throw new JackinError({
    code: 'RESTORE_DECLINED',
    message: `${facts.container_base} was left as it is`,
    hint: `Bring it back later with: jackin resume ${id}`,
  });
}

function missingFlags(facts: InstanceFacts, reason: string, consent: RestoreConsent): string[] {
  const image = facts.observation.image === null ? null : chooseImage(facts);
  const drift = image?.outcome === 'image' ? image.doubt : null;
  const onlyDrift = drift !== null && drift === reason;
  return [
    ...(onlyDrift || consent.acceptLoss ? [] : ['--accept-loss']),
    ...(drift === null || consent.allowDrift ? [] : ['--allow-drift']),
  ];
}
