import { randomUUID } from 'node:crypto';
import { newNonce } from '@jackin/core';
import { planStopAndExit } from '../decide/plan-exit.ts';
import { planStop } from '../decide/plan-stop.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import type { FlowResult, PolicyFlag, StopRequest } from './api.ts';
import { attachSession } from './attached.ts';
import { endResult } from './end-document.ts';
import { runExitFlow } from './exit-flow.ts';
import { exitPolicyOf } from './policy.ts';
import { reconcile } from './reconcile.ts';
import { RETURN, restoreUnderLock } from './restore.ts';
import { factsOf, namedInstance } from './select.ts';
import { GRACE_MS, type World } from './world.ts';

/** `jackin stop ID`: ends the agent in good order, then the exit flow; a session that ended by itself is finished. */
export async function stop(world: World, request: StopRequest): Promise<FlowResult> {
  if (!request.dryRun) await reconcile(world);
  const { container_base: base } = await namedInstance(world, request.instance);
  if (request.dryRun)
    return { kind: 'plan', document: { plan: await preview(world, base, request) }, exitCode: 0 };
  return finishSession(world, base, { policy: request.policy, stopFirst: true });
}

async function preview(world: World, base: string, request: StopRequest): Promise<Plan> {
  const facts = await factsOf(world, base, 'assess');
  const policy = await exitPolicyOf(world, facts.manifest, request.policy);
  return planStopAndExit({ ...stamp(world), facts, policy, canAsk: world.prompts.available });
}

/** Runs the exit flow of an instance nobody is attached to. */
export async function finishSession(
  world: World,
  base: string,
  options: { policy: PolicyFlag; stopFirst: boolean },
): Promise<FlowResult> {
  const { manifest } = await factsOf(world, base);
  const policy = await exitPolicyOf(world, manifest, options.policy);
  const decided = await runExitFlow(world, base, {
    policy,
    seen: null,
    ...(options.stopFirst
      ? {
          before: async (lock) => {
            const plan = stopPlan(world, await factsOf(world, base));
            if (plan.steps.length > 0) await world.run(plan, lock);
          },
        }
      : {}),
  });
  if (decided !== 'return') return endResult(decided);
  const { sessionId } = await restoreUnderLock(world, base, RETURN);
  return attachSession(world, base, { sessionId, policy: options.policy });
}

function stopPlan(world: World, facts: InstanceFacts): Plan {
  return planStop({ ...stamp(world), facts });
}

function stamp(world: World) {
  return { planId: randomUUID(), now: world.now(), nonce: newNonce(), graceMs: GRACE_MS };
}
