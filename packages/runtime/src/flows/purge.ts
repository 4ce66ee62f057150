import { randomUUID } from 'node:crypto';
import { JackinError, newNonce, type Tri } from '@jackin/core';
import type { IndexRow } from '@jackin/instance';
import { agentInContainer } from '../decide/classify-exit.ts';
import { type CleanConsent, doubts, requiredConsent } from '../decide/clean-consent.ts';
import { mountDocument } from '../decide/mount-document.ts';
import { planClean, planFinishClean } from '../decide/plan-clean.ts';
import { wasRevived } from '../decide/revived.ts';
import { ignoredLines, treeLines } from '../decide/tree-lines.ts';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
import { directoryFact } from '../observe/local-facts.ts';
import type { Plan } from '../plan.ts';
import type { FlowResult, PurgeRequest } from './api.ts';
import { agentExit, endDocument, endResult } from './end-document.ts';
import { decisionNeeded } from './guards.ts';
import { keepWhatIsLeft, type LeftOver } from './keep-what-is-left.ts';
import { withInstanceLock } from './locking.ts';
import { reconcile } from './reconcile.ts';
import { rowOnly } from './row-only.ts';
import { factsOf } from './select.ts';
import { GRACE_MS, type World } from './world.ts';

/**
 * `jackin purge ID`: deletes a named instance. The plan that was shown is the plan that runs: what changed since is
 * STATE_CHANGED. A clean-up that was interrupted is finished.
 */
export async function purge(world: World, request: PurgeRequest): Promise<FlowResult> {
  if (!request.dryRun) await reconcile(world);
  const found = await world.store.resolve(request.instance);
  const base = found.container_base;
  if (found.manifest === null) return finish(world, base, request);
  const facts = request.dryRun ? await factsOf(world, base, 'assess') : await settled(world, base);
  const consent = request.dryRun ? requiredConsent(facts) : await consentTo(world, facts, request);
  if (consent === null) return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
  const plan = cleanPlan(world, facts, consent);
  if (request.dryRun) return { kind: 'plan', document: { plan }, exitCode: 0 };
  const removed = await carryOut(world, base, plan);
  return endResult(
    endDocument(facts, 'cleaned', {
      cause: facts.manifest.exit_cause?.kind ?? null,
      evidence: facts.manifest.exit_cause?.evidence ?? [],
      removed,
      isolated: facts.isolated.map(mountDocument),
      agent_exit: agentExit(facts, null),
    }),
  );
}

/**
 * Whoever works on it right now is waited for, if only because every command looks after the records. Throws
 * STATE_CHANGED when it was brought back meanwhile, INSTANCE_GONE, LOCK_HELD after a bounded wait.
 */
async function settled(world: World, base: string): Promise<InstanceFacts> {
  const before = await factsOf(world, base, 'assess');
  if (before.lock.state !== 'held') return before;
  return withInstanceLock(world, base, { purpose: 'purge' }, async () => {
    const now = await factsOf(world, base, 'assess');
    if (!wasRevived(before, now)) return now;
    throw new JackinError({
      code: 'STATE_CHANGED',
      message: `${base} was brought back by another jackin meanwhile, so nothing of it was removed`,
      hint: `Run \`jackin status ${now.instance_id} --detail\`, then the same command again.`,
    });
  });
}

async function finish(world: World, base: string, request: PurgeRequest): Promise<FlowResult> {
  const { rowsWithoutManifest } = await world.store.load();
  const row = rowsWithoutManifest.find((one) => one.container_base === base);
  if (row === undefined) return purge(world, request);
  const plan = planFinishClean({
    planId: randomUUID(),
    now: world.now(),
    row,
    dataDir: await dataDirFact(world, base),
    nonce: newNonce(),
    graceMs: GRACE_MS,
  });
  if (request.dryRun) return { kind: 'plan', document: { plan }, exitCode: 0 };
  // A clean-up that had begun was consented to then; what somebody else removed was not.
  const begun = row.status === 'purged';
  if (!begun && !request.yes && !request.force && !(await confirmed(world, row, plan))) {
    return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
  }
  const removed = await carryOut(world, base, plan);
  const evidence = [begun ? 'its clean-up had been interrupted' : rowOnly(row).message];
  return endResult(endDocument(row, 'cleaned', { removed, evidence }));
}

/** No: it is provably gone, which takes a parent that is there. */
async function dataDirFact({ paths }: World, base: string): Promise<Tri> {
  const fact = await directoryFact(paths.instance(base).dir);
  return fact === 'no' && (await directoryFact(paths.dataDir)) !== 'yes' ? 'unknown' : fact;
}

async function confirmed(world: World, row: IndexRow, plan: Plan): Promise<boolean> {
  const { instance_id: id, container_base: base } = row;
  if (!world.prompts.available) {
    throw decisionNeeded(
      `Purging ${base} ends what still runs of it, and nobody can be asked`,
      `Confirm it with: jackin purge ${id} --yes`,
      { commands: [`jackin purge ${id} --yes`] },
    );
  }
  return world.prompts.confirm({
    title: `purge ${base}`,
    removes: plan.steps.flatMap((step) => step.removes),
    warnings: [`${rowOnly(row).message}. What still runs of it will be ended.`],
  });
}

async function carryOut(world: World, base: string, plan: Plan): Promise<string[]> {
  return withInstanceLock(world, base, { purpose: 'purge' }, async (lock) => {
    try {
      return (await world.run(plan, lock)).removed;
    } catch (thrown) {
      const left = await keepWhatIsLeft(world, lock, base, thrown);
      if (left === null) throw thrown;
      throw stillKept(left);
    }
  });
}

function stillKept({ error, facts }: LeftOver): JackinError {
  return new JackinError({
    code: error.code,
    message: `${error.message}. ${facts.container_base} is kept (${facts.manifest.status})`,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: { ...error.details, status: facts.manifest.status, isolated: facts.isolated.map(mountDocument) },
    cause: error,
    exitCode: error.exitCode,
  });
}

/** What the operator agrees to, or null when they did not. Throws DECISION_NEEDED when nobody can be asked. */
async function consentTo(
  world: World,
  facts: InstanceFacts,
  request: PurgeRequest,
): Promise<CleanConsent | null> {
  const needed = requiredConsent(facts);
  const given: CleanConsent = request.force ? 'force' : request.yes ? 'yes' : 'none';
  if (RANK[given] >= RANK[needed]) return given;
  const id = facts.instance_id;
  if (!world.prompts.available) {
    // With more than a plain question open the plan refuses by its own name, so that the flag is not a guess.
    if (needed !== 'yes') return given;
    throw decisionNeeded(
      `Purging ${facts.container_base} deletes its home and conversation, and nobody can be asked`,
      `Confirm it with: jackin purge ${id} --yes`,
      { commands: [`jackin purge ${id} --yes`] },
    );
  }
  const agreed = await world.prompts.confirm({
    title: `purge ${facts.container_base}`,
    removes: cleanPlan(world, facts, needed).steps.flatMap((step) => step.removes),
    warnings: warnings(facts),
    ...(needed === 'named' ? { mustType: id } : {}),
  });
  return agreed ? needed : null;
}

const RANK: Readonly<Record<CleanConsent, number>> = { none: 0, yes: 1, force: 2, named: 3 };

function warnings(facts: InstanceFacts): string[] {
  const lost = facts.isolated.filter(({ verdict }) => verdict !== 'clean' && verdict !== 'unknown');
  const clean = facts.isolated.filter(({ verdict }) => verdict === 'clean');
  return [
    ...(agentInContainer(facts) === 'alive' ? ['An agent is alive in it and will be ended.'] : []),
    ...lost.flatMap((mount) => [
      `The ${mount.kind} ${mount.mount_dst} is ${mount.verdict}: its work is lost.`,
      ...treeLines(mountDocument(mount)).map((line) => `  ${line}`),
    ]),
    ...clean.flatMap((mount) => receiptLines(mount)),
    ...doubts(facts).map((doubt) => `Could not be looked at: ${doubt}`),
  ];
}

/** What is in no repository goes with a clean tree too. */
function receiptLines({ mount_dst, assessment }: IsolatedMountFact): string[] {
  const ignored = assessment?.evidence?.ignored;
  return ignored === undefined ? [] : ignoredLines(ignored).map((line) => `${mount_dst}  ${line}`);
}

function cleanPlan(world: World, facts: InstanceFacts, consent: CleanConsent): Plan {
  return planClean({
    planId: randomUUID(),
    now: world.now(),
    facts,
    nonce: newNonce(),
    graceMs: GRACE_MS,
    purpose: 'purge',
    consent,
  });
}
