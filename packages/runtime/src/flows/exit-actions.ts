import { randomUUID } from 'node:crypto';
import { JackinError, type Lock, newNonce } from '@jackin/core';
import type { Classification } from '../decide/classify-exit.ts';
import type { ExitDecision, ExitPolicy } from '../decide/decide-exit.ts';
import type { AgentEnd, Ended } from '../decide/judge-end.ts';
import { planClean } from '../decide/plan-clean.ts';
import { planKeep } from '../decide/plan-keep.ts';
import { planRecord } from '../decide/plan-record.ts';
import type { InstanceFacts } from '../facts.ts';
import type { EndDocument } from '../jackin.ts';
import { agentExit, endDocument, keptByChoice, keptThings, policyOf } from './end-document.ts';
import { GRACE_MS, type World } from './world.ts';

/** What an exit decision is carried out with. */
export interface ActionInput {
  world: World;
  lock: Lock;
  facts: InstanceFacts;
  policy: ExitPolicy;
  seen: AgentEnd | null;
}

/** Carries out what was decided, under the lock, and says what came of it. */
export async function act(
  input: ActionInput,
  classification: Classification,
  decision: Exclude<ExitDecision, { action: 'ask' }>,
): Promise<EndDocument> {
  const { facts } = input;
  if (decision.action === 'leave_running' || classification.outcome !== 'ended') {
    const reason = decision.action === 'leave_running' ? decision.reason : classification.outcome;
    return endDocument(facts, 'running', { status: facts.manifest.status, evidence: [reason] });
  }
  switch (decision.action) {
    case 'record':
      return recordEnd(input, classification);
    case 'keep':
      return keep(input, classification, decision);
    case 'clean':
      return clean(input, classification);
  }
}

/** Status and cause are written, nothing else is touched. */
export async function recordEnd(input: ActionInput, ended: Ended): Promise<EndDocument> {
  const { facts } = input;
  await record(input, ended);
  return endDocument(facts, 'kept', {
    ...whatEnded(input, ended),
    kept: keptThings(facts),
    kept_without_choice: !keptByChoice(facts.manifest),
  });
}

/** The operator answered nothing: the end is recorded and stays open for a later decision. */
export async function leaveUndecided(
  input: ActionInput,
  classification: Classification,
): Promise<EndDocument> {
  const { facts } = input;
  if (classification.outcome !== 'ended') {
    return endDocument(facts, 'aborted', { status: facts.manifest.status });
  }
  await record(input, classification);
  return endDocument(facts, 'aborted', {
    ...whatEnded(input, classification),
    kept: keptThings(facts),
  });
}

async function record({ world, lock, facts }: ActionInput, ended: Ended): Promise<void> {
  const { status, exit_cause: recorded } = facts.manifest;
  if (status === ended.status && recorded?.kind === ended.cause?.kind) return;
  const { cause, last_attach_outcome: lastAttachOutcome } = ended;
  const plan = planRecord({ ...stamp(world), facts, status: ended.status, cause, lastAttachOutcome });
  await world.run(plan, lock);
}

async function keep(
  input: ActionInput,
  ended: Ended,
  decision: Pick<Extract<ExitDecision, { action: 'keep' }>, 'intent' | 'status' | 'reason'>,
): Promise<EndDocument> {
  const { world, lock, facts } = input;
  const { intent, status } = decision;
  const plan = planKeep({ ...stopStamp(world), facts, classification: ended, intent, status });
  const receipt = await world.run(plan, lock);
  return endDocument(facts, 'kept', {
    ...whatEnded(input, ended),
    status,
    evidence: [...(ended.cause?.evidence ?? []), decision.reason],
    removed: receipt.removed,
    kept: keptThings(facts),
    kept_without_choice: intent === 'could_not_ask',
  });
}

async function clean(input: ActionInput, ended: Ended): Promise<EndDocument> {
  const { world, lock, facts, policy } = input;
  try {
    const plan = planClean({ ...stopStamp(world), facts, purpose: 'exit', consent: 'none' });
    const receipt = await world.run(plan, lock);
    return endDocument(facts, 'cleaned', {
      ...whatEnded(input, ended),
      status: null,
      evidence: [...(ended.cause?.evidence ?? []), ...keepHint(policy)],
      removed: receipt.removed,
    });
  } catch (error) {
    if (!(error instanceof JackinError) || error.code !== 'CLEANUP_NOT_PROVEN') throw error;
    const status = 'restore_available' as const;
    return keep(input, ended, { intent: 'could_not_ask', status, reason: error.message });
  }
}

function keepHint(policy: ExitPolicy): string[] {
  if (policy.value !== 'ask') return [];
  return ['policy ask: nothing was unfinished; --keep would have kept the home and the conversation'];
}

function whatEnded({ facts, policy, seen }: ActionInput, ended: Ended): Partial<EndDocument> {
  return {
    status: ended.status,
    cause: ended.cause?.kind ?? null,
    evidence: ended.cause?.evidence ?? [],
    policy: policyOf(policy),
    agent_exit: agentExit(facts, seen),
  };
}

function stamp(world: World): { planId: string; now: string } {
  return { planId: randomUUID(), now: world.now() };
}

function stopStamp(world: World) {
  return { ...stamp(world), nonce: newNonce(), graceMs: GRACE_MS };
}
