import { randomUUID } from 'node:crypto';
import { type Lock, newNonce } from '@jackin/core';
import type { Classification } from '../decide/classify-exit.ts';
import type { ExitDecision } from '../decide/decide-exit.ts';
import type { ExitPolicy } from '../decide/exit-policy-table.ts';
import type { AgentEnd, Ended } from '../decide/judge-end.ts';
import { mountDocument } from '../decide/mount-document.ts';
import { type FinalDecision, planExit } from '../decide/plan-exit.ts';
import type { InstanceFacts } from '../facts.ts';
import type { EndDocument } from '../jackin.ts';
import { agentExit, endDocument, keptByChoice, keptThings, policyOf } from './end-document.ts';
import { keepWhatIsLeft, type LeftOver } from './keep-what-is-left.ts';
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
  const { world, lock, facts } = input;
  if (decision.action === 'leave_running' || classification.outcome !== 'ended') {
    const reason = decision.action === 'leave_running' ? decision.reason : classification.outcome;
    return endDocument(facts, 'running', { status: facts.manifest.status, evidence: [reason] });
  }
  const { decision: done, plan } = planExit({ ...stopStamp(world), facts, classification, decision });
  let removed: string[];
  try {
    removed = plan === null ? [] : (await world.run(plan, lock)).removed;
  } catch (thrown) {
    const left = await keepWhatIsLeft(world, lock, facts.container_base, thrown);
    if (left === null) throw thrown;
    return keptAfterAll(input, classification, left);
  }
  switch (done.action) {
    case 'record':
      return recorded(input, classification);
    case 'keep':
      return kept(input, classification, done, removed);
    case 'clean':
      return cleaned(input, classification, done, removed);
  }
}

/** Status and cause are written, nothing else is touched. */
export async function recordEnd(input: ActionInput, ended: Ended): Promise<EndDocument> {
  await record(input, ended);
  return recorded(input, ended);
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

async function record({ world, lock, facts }: ActionInput, classification: Ended): Promise<void> {
  const { status, cause } = classification;
  const decision = { action: 'record', status, cause } as const;
  const { plan } = planExit({ ...stopStamp(world), facts, classification, decision });
  if (plan !== null) await world.run(plan, lock);
}

function recorded(input: ActionInput, ended: Ended): EndDocument {
  const { facts } = input;
  return endDocument(facts, 'kept', {
    ...whatEnded(input, ended),
    kept: keptThings(facts),
    kept_without_choice: !keptByChoice(facts.manifest),
  });
}

function kept(
  input: ActionInput,
  ended: Ended,
  { status, reason, intent }: Extract<FinalDecision, { action: 'keep' }>,
  removed: string[],
): EndDocument {
  const { facts } = input;
  return endDocument(facts, 'kept', {
    ...whatEnded(input, ended),
    status,
    evidence: [...(ended.cause?.evidence ?? []), reason],
    removed,
    kept: keptThings(facts),
    kept_without_choice: intent === 'could_not_ask',
  });
}

/** A clean-up a tree was in the way of: what is left is kept, and the reason is told. */
function keptAfterAll(input: ActionInput, ended: Ended, left: LeftOver): EndDocument {
  return endDocument(left.facts, 'kept', {
    ...whatEnded({ ...input, facts: left.facts }, ended),
    status: left.facts.manifest.status,
    evidence: [
      ...(ended.cause?.evidence ?? []),
      `it could not be cleaned up: ${left.error.message}`,
      ...hintOf(left),
    ],
    removed: left.removed,
    kept: keptThings(left.facts),
    kept_without_choice: true,
  });
}

function hintOf({ error }: LeftOver): string[] {
  return error.hint === undefined ? [] : [error.hint];
}

function cleaned(
  input: ActionInput,
  ended: Ended,
  { reason }: Extract<FinalDecision, { action: 'clean' }>,
  removed: string[],
): EndDocument {
  return endDocument(input.facts, 'cleaned', {
    ...whatEnded(input, ended),
    status: null,
    evidence: [...(ended.cause?.evidence ?? []), reason],
    removed,
  });
}

function whatEnded({ facts, policy, seen }: ActionInput, ended: Ended): Partial<EndDocument> {
  return {
    status: ended.status,
    cause: ended.cause?.kind ?? null,
    evidence: ended.cause?.evidence ?? [],
    policy: policyOf(policy),
    agent_exit: agentExit(facts, seen),
    isolated: facts.isolated.map(mountDocument),
  };
}

function stopStamp(world: World) {
  return { planId: randomUUID(), now: world.now(), nonce: newNonce(), graceMs: GRACE_MS };
}
