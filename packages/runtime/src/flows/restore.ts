import { randomUUID } from 'node:crypto';
import { type JackinError, type Lock, newNonce, toJackinError } from '@jackin/core';
import { backendOf as backendKind } from '@jackin/instance';
import { describeInstance } from '../decide/describe.ts';
import { planRestore, type RestorePlan } from '../decide/plan-restore.ts';
import type { ExecutionReceipt } from '../execute/ports.ts';
import type { InstanceFacts } from '../facts.ts';
import type { ResumeDocument } from '../jackin.ts';
import { bounded } from '../observe/bounded.ts';
import type { Plan, SessionRequest } from '../plan.ts';
import { agreedPlan, type RestoreConsent } from './consent.ts';
import { conversationOf, resumedSession } from './conversation.ts';
import { knownAgents } from './known-agents.ts';
import { withInstanceLock } from './locking.ts';
import { prepareSession } from './prepare-session.ts';
import { factsOf } from './select.ts';
import { planRestoreFailure } from './undo-restore.ts';
import { undoneOrTold } from './undone-or-told.ts';
import { verifyTrees } from './verify-trees.ts';
import { GRACE_MS, type World } from './world.ts';

const CHANGED_PATHS_MS = 10_000;

/** "Return to agent": nothing may be lost by it, and nothing is asked. */
export const RETURN: RestoreConsent = { acceptLoss: false, allowDrift: false, returning: true };

export interface Restored {
  document: ResumeDocument;
  /** The session that was started or found alive. */
  sessionId: string | null;
}

/** The plan a restore would carry out now, agreed to; nothing is changed. */
export async function previewRestore(world: World, base: string, consent: RestoreConsent): Promise<Plan> {
  const facts = await factsOf(world, base, 'resume');
  return agreedPlan(world, facts, await restorePlan(world, facts, consent), consent);
}

/**
 * Brings an instance back at the highest possible tier (docs/status-and-causes.md#ladder). What has to be asked is asked
 * before the lock is taken; under it everything is looked at again, so that of two restores at once the second one finds
 * the session of the first and joins it.
 * @throws JackinError what blocks it, DECISION_NEEDED, LOCK_HELD after a bounded wait, or the failed step's error; what
 *   was there before is there still
 */
export async function restoreInstance(
  world: World,
  base: string,
  consent: RestoreConsent,
): Promise<Restored> {
  const facts = await factsOf(world, base, 'resume');
  const first = await restorePlan(world, facts, consent);
  // Another process works on it: the lock is waited for, and whatever it leaves is looked at then.
  const busy = first.outcome === 'blocked' && first.error.code === 'INSTANCE_BUSY';
  if (busy) return restoreUnderLock(world, base, consent);
  await agreedPlan(world, facts, first, consent);
  await verifyTrees(world, facts, first);
  const agreed =
    first.outcome === 'needs_consent' ? { ...consent, acceptLoss: true, allowDrift: true } : consent;
  return restoreUnderLock(world, base, agreed);
}

/** The same for a caller that asks nothing any more. */
export async function restoreUnderLock(
  world: World,
  base: string,
  consent: RestoreConsent,
): Promise<Restored> {
  const startedMs = world.clock.monotonicMs();
  return withInstanceLock(world, base, { purpose: 'resume' }, async (lock) => {
    const facts = await factsOf(world, base, 'resume');
    const cause = describeInstance(facts, world.now()).cause;
    const plan = await agreedPlan(world, facts, await restorePlan(world, facts, consent), consent);
    await prepareSession(world, plan);
    tellDrift(world, facts, plan);
    const { receipt, done } = await carryOut(world, facts, plan, lock, consent);
    const manifest = (await factsOf(world, base)).manifest;
    return {
      sessionId: receipt.session?.session_id ?? null,
      document: {
        instance_id: manifest.instance_id,
        container_base: base,
        tier: (done.tier ?? 0) as ResumeDocument['tier'],
        status: manifest.status,
        cause,
        conversation: conversationOf(manifest, await knownAgents(world)),
        returned: done.returns,
        did_not_return: done.did_not_return,
        elapsed_ms: Math.round(world.clock.monotonicMs() - startedMs),
      },
    };
  });
}

/** A container that cannot be started makes way for the next tier, with consent; any other failure is undone. */
async function carryOut(
  world: World,
  facts: InstanceFacts,
  plan: Plan,
  lock: Lock,
  consent: RestoreConsent,
): Promise<{ receipt: ExecutionReceipt; done: Plan }> {
  try {
    return { receipt: await world.run(plan, lock), done: plan };
  } catch (thrown) {
    const error = toJackinError(thrown);
    await undo(world, facts, plan, lock, error);
    if (failedStep(error) !== 'start_container') throw error;
    const again = await factsOf(world, facts.container_base, 'resume');
    const next = await restorePlan(world, again, consent, error.message);
    if (next.outcome === 'blocked') throw error;
    const lower = await agreedPlan(world, again, next, consent);
    try {
      return { receipt: await world.run(lower, lock), done: lower };
    } catch (second) {
      await undo(world, again, lower, lock, toJackinError(second));
      throw second;
    }
  }
}

/** The recorded image is used by its id. That its tag names another one by now must not go unseen. */
function tellDrift(world: World, { manifest, observation }: InstanceFacts, { tier }: Plan): void {
  const byTag = observation.image?.by_tag;
  const { image_id: recorded, image_tag: tag } = manifest;
  if (tier !== 2 || byTag?.state !== 'present' || !recorded || byTag.image_id === recorded) return;
  world.events({
    type: 'notice',
    level: 'warn',
    code: 'IMAGE_DRIFT',
    message: `${tag} names another image by now, ${byTag.image_id}; the recorded one, ${recorded}, is used`,
  });
}

/** The instance goes back to what it was; a failure to undo is told and does not hide the first one. */
async function undo(
  world: World,
  before: InstanceFacts,
  plan: Plan,
  lock: Lock,
  error: JackinError,
): Promise<void> {
  const undoing = planRestoreFailure({
    planId: randomUUID(),
    now: world.now(),
    before,
    plan,
    error,
    nonce: newNonce(),
    graceMs: GRACE_MS,
  });
  if (undoing === null) return;
  await undoneOrTold(world, () => world.run(undoing, lock));
}

async function restorePlan(
  world: World,
  facts: InstanceFacts,
  { source = null, returning = false }: RestoreConsent,
  startFailure?: string,
): Promise<RestorePlan> {
  const session: SessionRequest = resumedSession(world, facts.manifest, await knownAgents(world));
  const input = {
    planId: randomUUID(),
    now: world.now(),
    facts: returning ? withoutDivergence(facts) : facts,
    session,
    source,
    ...(startFailure === undefined ? {} : { startFailure }),
  };
  const planned = planRestore(input);
  // Only a new container loses what the old one holds, and listing that takes the engine a while.
  if (planned.outcome === 'blocked' || planned.plan.tier !== 2) return planned;
  return planRestore({ ...input, changedPaths: await changedPathsOf(world, facts) });
}

function withoutDivergence(facts: InstanceFacts): InstanceFacts {
  return { ...facts, isolated: facts.isolated.map((mount) => ({ ...mount, divergence: null })) };
}

/** What the writable layer holds, as far as the engine can still tell. */
async function changedPathsOf(world: World, facts: InstanceFacts): Promise<string[] | null> {
  const backend = world.backendOf.get(backendKind(facts.manifest));
  if (backend === undefined) return null;
  const { instance_id, container_base, manifest } = facts;
  const ref = { instance_id, container_base, manifest };
  const limitMs = Math.min(CHANGED_PATHS_MS, world.bounds?.backendMs ?? CHANGED_PATHS_MS);
  const answer = await bounded('Listing what changed in the container', limitMs, undefined, (signal) =>
    backend.changedPaths(ref, signal),
  ).catch(() => null);
  return Array.isArray(answer) ? answer : null;
}

function failedStep(error: JackinError): string | null {
  const step = error.details.failed_step as { op?: unknown } | undefined;
  return typeof step?.op === 'string' ? step.op : null;
}
