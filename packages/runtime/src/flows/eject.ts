import { randomUUID } from 'node:crypto';
import { newNonce } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import { mountDocument } from '../decide/mount-document.ts';
import { planEject } from '../decide/plan-eject.ts';
import type { InstanceFacts } from '../facts.ts';
import type { EndDocument } from '../jackin.ts';
import type { Plan } from '../plan.ts';
import type { EjectRequest, ExileDocument, ExileRequest, FlowResult } from './api.ts';
import { backendFor } from './backend-for.ts';
import { agentExit, endDocument, endResult, keptThings } from './end-document.ts';
import { failureOf, planEach, plansResult } from './failures.ts';
import { decisionNeeded } from './guards.ts';
import { withInstanceLock } from './locking.ts';
import { reconcile } from './reconcile.ts';
import { factsOf, namedInstance } from './select.ts';
import { GRACE_MS, type World } from './world.ts';

/** `jackin eject ID`: frees what it uses of the engine and keeps its state. */
export async function eject(world: World, request: EjectRequest): Promise<FlowResult> {
  if (!request.dryRun) await reconcile(world);
  const { container_base: base, manifest } = await namedInstance(world, request.instance);
  if (request.dryRun) {
    return {
      kind: 'plan',
      document: { plan: ejectPlan(world, await factsOf(world, base, 'assess')) },
      exitCode: 0,
    };
  }
  return endResult(await ejectInstance(world, manifest));
}

/** `jackin exile`: ejects everything that runs, after one confirmation. */
export async function exile(world: World, request: ExileRequest): Promise<FlowResult> {
  const { facts } = request.dryRun ? await world.look() : await reconcile(world);
  const running = facts.filter(mayRun);
  if (request.dryRun) return plansResult(running, (one) => ejectPlan(world, one));
  if (running.length > 0 && !request.yes && !(await confirmed(world, running))) {
    return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
  }
  const document: ExileDocument = { ejected: [], failed: [] };
  for (const facts of running) {
    try {
      document.ejected.push(await ejectInstance(world, facts.manifest));
    } catch (thrown) {
      document.failed.push(failureOf(facts, thrown));
    }
  }
  return { kind: 'exile', document, exitCode: document.failed.length === 0 ? 0 : 1 };
}

/** What was running when it was last seen and cannot be seen now is named as a failure, not passed over. */
function mayRun({ observation, manifest, engine_matches: matches }: InstanceFacts): boolean {
  const { state } = observation.container;
  if (state === 'running') return true;
  const unseen = state === 'unreachable' || matches === 'no';
  return unseen && (manifest.status === 'running' || manifest.status === 'active');
}

async function ejectInstance(world: World, manifest: Manifest): Promise<EndDocument> {
  const { container_base: base } = manifest;
  // Before there is a lock: what this version cannot work on is left without a trace of it.
  backendFor(world, manifest);
  return withInstanceLock(world, base, { purpose: 'eject' }, async (lock) => {
    const facts = await factsOf(world, base, 'assess');
    const receipt = await world.run(ejectPlan(world, facts), lock);
    const after = await factsOf(world, base);
    const cause = after.manifest.exit_cause;
    return endDocument(after, 'ejected', {
      status: after.manifest.status,
      cause: cause?.kind ?? null,
      evidence: cause?.evidence ?? [],
      removed: receipt.removed,
      kept: keptThings(facts),
      isolated: facts.isolated.map(mountDocument),
      agent_exit: agentExit(after, null),
    });
  });
}

async function confirmed(world: World, running: InstanceFacts[]): Promise<boolean> {
  const names = running.map(({ container_base }) => container_base);
  if (!world.prompts.available) {
    throw decisionNeeded(
      `exile ends ${names.length} running instance${names.length === 1 ? '' : 's'} and nobody can be asked: ${names.join(', ')}`,
      'Confirm it with: jackin exile --yes',
      { instances: names, commands: ['jackin exile --yes'] },
    );
  }
  const { plans, failed } = await planEach(running, (one) => ejectPlan(world, one));
  return world.prompts.confirm({
    title: 'exile: eject every running instance',
    removes: plans.flatMap(({ steps }) => steps.flatMap((step) => step.removes)),
    warnings: [
      'The agents in them are ended. All state is kept and can be resumed.',
      ...failed.map((one) => `${one.container_base} cannot be ejected: ${one.error.message}`),
    ],
  });
}

function ejectPlan(world: World, facts: InstanceFacts): Plan {
  return planEject({
    planId: randomUUID(),
    now: world.now(),
    facts,
    nonce: newNonce(),
    graceMs: GRACE_MS,
  });
}
