import { newNonce, newSessionId } from '@jackin/core';
import { derivedNames } from '@jackin/instance';
import {
  classifyExit,
  type Ended,
  planClean,
  planFinishClean,
  planKeep,
  planLaunch,
  planReconcile,
  planRestore,
  planStop,
} from '../../../src/decide/index.ts';
import { execute } from '../../../src/execute/executor.ts';
import type { InstanceFacts } from '../../../src/facts.ts';
import { observe } from '../../../src/observe/observe.ts';
import type { Plan } from '../../../src/plan.ts';
import type { Subject } from './plans.ts';
import type { Scratch } from './scratch.ts';

/** The real decisions, with the inputs the verbs give them. */
const GRACE_MS = 2_000;
const now = (): string => new Date().toISOString();
const planId = (): string => newNonce();
const stopInput = (facts: InstanceFacts) => ({
  planId: planId(),
  now: now(),
  facts,
  nonce: newNonce(),
  graceMs: GRACE_MS,
});

export function launchPlan(subject: Subject): Plan {
  const { manifest, recipe, session, base } = subject;
  return planLaunch({
    planId: planId(),
    now: now(),
    instanceId: subject.instanceId,
    containerBase: base,
    names: derivedNames(base),
    workspaceName: null,
    workspaceLabel: manifest.workspace_label,
    workdir: manifest.workdir,
    hostWorkdirFingerprint: manifest.host_workdir_fingerprint,
    role: { key: 'shell', displayName: 'shell' },
    supportedAgents: ['shell'],
    recipe,
    session,
  });
}

/** The facts of one instance, or null when its manifest is gone. */
export async function factsOf(scratch: Scratch, subject: Subject): Promise<InstanceFacts | null> {
  const { facts } = await observe(scratch.observeDeps, { bases: [subject.base] });
  return facts[0] ?? null;
}

export async function mustObserve(scratch: Scratch, subject: Subject): Promise<InstanceFacts> {
  const facts = await factsOf(scratch, subject);
  if (facts === null) throw new Error(`${subject.base} is gone`);
  return facts;
}

export function restorePlan(facts: InstanceFacts, subject: Subject): Plan {
  const session = { ...subject.session, session_id: newSessionId() };
  const decided = planRestore({ planId: planId(), now: now(), facts, session });
  if (decided.outcome === 'plan') return decided.plan;
  throw decided.outcome === 'blocked' ? decided.error : new Error(decided.reason);
}

export const stopPlan = (facts: InstanceFacts): Plan => planStop(stopInput(facts));

export function keepPlan(facts: InstanceFacts, classification: Ended): Plan {
  return planKeep({ ...stopInput(facts), classification, intent: 'operator', status: 'restore_available' });
}

export function purgePlan(facts: InstanceFacts): Plan {
  return planClean({ ...stopInput(facts), purpose: 'purge', consent: 'yes' });
}

export function endedOf(facts: InstanceFacts): Ended {
  const classification = classifyExit(facts, now());
  if (classification.outcome !== 'ended') throw new Error(`it has not ended: ${classification.outcome}`);
  return classification;
}

export async function reconcile(scratch: Scratch): Promise<void> {
  const { facts, loaded } = await observe(scratch.observeDeps);
  const plans = planReconcile({ planId: planId(), now: now(), facts, indexState: loaded.indexState });
  for (const plan of plans) await execute(plan, scratch.ports());
}

/** What `purge` does next time: from the facts, or from the row when only that is left. */
export async function finishClean(scratch: Scratch, subject: Subject): Promise<void> {
  const facts = await factsOf(scratch, subject);
  if (facts !== null) {
    await execute(purgePlan(facts), scratch.ports());
    return;
  }
  const { rowsWithoutManifest } = await scratch.store.load();
  const row = rowsWithoutManifest.find(({ container_base }) => container_base === subject.base);
  if (row === undefined) return;
  const plan = planFinishClean({
    planId: planId(),
    now: now(),
    row,
    dataDir: 'unknown',
    nonce: 'nonce',
    graceMs: 1_000,
  });
  await execute(plan, scratch.ports());
}
