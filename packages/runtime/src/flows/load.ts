import { candidatesFor } from '../decide/candidates.ts';
import { decideLaunch, type LaunchChoice } from '../decide/decide-launch.ts';
import type { Observation } from '../observe/observe.ts';
import type { CandidateRow } from '../prompts.ts';
import type { FlowResult, LoadRequest } from './api.ts';
import { attachSession } from './attached.ts';
import { refuseInside, requireTerminal } from './guards.ts';
import { launch, launchPlan } from './launch.ts';
import { type PreparedLaunch, prepareLaunch } from './launch-request.ts';
import { takeTargetLock } from './locking.ts';
import { keepRecipe } from './recipe-kept.ts';
import { reconcile } from './reconcile.ts';
import { seeEngine } from './require-engine.ts';
import { previewRestore, restoreInstance } from './restore.ts';
import { namedInstance } from './select.ts';
import { finishSession } from './stop.ts';
import type { World } from './world.ts';

/**
 * `jackin load`: starts a new session, or resumes one that is there; never decides between the two by itself
 * (docs/status-and-causes.md#launch).
 */
export async function load(world: World, request: LoadRequest): Promise<FlowResult> {
  refuseInside(world, 'load');
  if (!request.detach && !request.dryRun) requireTerminal(world, 'load', '--detach');
  const prepared = await prepareLaunch(world, request);
  if (request.dryRun) return preview(world, request, prepared);
  if (request.session === 'new') {
    await reconcile(world);
    return startNew(world, request, prepared);
  }
  const { workspaceName, hostWorkdirFingerprint, roleKey, agent } = prepared.launchTarget;
  const workspace = workspaceName ?? hostWorkdirFingerprint;
  const lock = await takeTargetLock(world, { workspace, role: roleKey, agent });
  try {
    const choice = await decide(world, request, prepared, await reconcile(world));
    // From here the row tells others about it, or there is nothing to tell.
    if (choice.action === 'new') return await startNew(world, request, prepared, lock.release);
    await lock.release();
    return choice.action === 'resume'
      ? await resumeCandidate(world, request, prepared, choice.instance_id)
      : await chosen(world, request, prepared, choice.candidates);
  } finally {
    await lock.release();
  }
}

async function preview(world: World, request: LoadRequest, prepared: PreparedLaunch): Promise<FlowResult> {
  const choice = await decide(world, request, prepared, await world.look());
  if (choice.action !== 'resume') {
    return {
      kind: 'plan',
      document: {
        plan: launchPlan(world, prepared, await prepared.make(await seeEngine(world, prepared.backend))).plan,
      },
      exitCode: 0,
    };
  }
  const { container_base: base } = await namedInstance(world, choice.instance_id);
  await keepRecipe(world, base, request, prepared);
  return { kind: 'plan', document: { plan: await previewRestore(world, base, request) }, exitCode: 0 };
}

async function decide(
  world: World,
  request: LoadRequest,
  prepared: PreparedLaunch,
  seen: Observation,
): Promise<LaunchChoice> {
  const { session } = request;
  const named =
    session !== null && typeof session === 'object'
      ? { instance: (await namedInstance(world, session.instance)).instance_id }
      : session;
  return decideLaunch({
    candidates: candidatesFor(prepared.launchTarget, seen.facts, world.now()),
    request: named,
    canAsk: world.prompts.available,
    invocation: prepared.invocation,
    startNew: prepared.startNew,
  });
}

async function startNew(
  world: World,
  request: LoadRequest,
  prepared: PreparedLaunch,
  recorded: () => Promise<void> = async () => undefined,
): Promise<FlowResult> {
  let released: Promise<void> | undefined;
  const { manifest, sessionId } = await launch(world, prepared, () => {
    released = recorded();
    released.catch(() => undefined);
  });
  await released;
  const { container_base, instance_id, status } = manifest;
  if (!request.detach) return attachSession(world, container_base, { sessionId, policy: request.policy });
  return { kind: 'load', document: { instance_id, container_base, status, tier: null }, exitCode: 0 };
}

async function resumeCandidate(
  world: World,
  request: LoadRequest,
  prepared: PreparedLaunch,
  instanceId: string,
): Promise<FlowResult> {
  const { container_base: base } = await namedInstance(world, instanceId);
  await keepRecipe(world, base, request, prepared);
  const { document, sessionId } = await restoreInstance(world, base, request);
  if (!request.detach) return attachSession(world, base, { sessionId, policy: request.policy });
  const { instance_id, container_base, status, tier } = document;
  return { kind: 'load', document: { instance_id, container_base, status, tier }, exitCode: 0 };
}

async function chosen(
  world: World,
  request: LoadRequest,
  prepared: PreparedLaunch,
  candidates: CandidateRow[],
): Promise<FlowResult> {
  const { role, agent, target } = prepared;
  const session = { role: role.key, agent: agent.id, workspace: target.label };
  const answer = await world.prompts.chooseSession({ session, candidates });
  switch (answer.choice) {
    case 'new':
      return startNew(world, request, prepared);
    case 'resume':
      return resumeCandidate(world, request, prepared, answer.instance_id);
    case 'finish': {
      const { container_base: base } = await namedInstance(world, answer.instance_id);
      return finishSession(world, base, { policy: request.policy, stopFirst: false });
    }
    case 'abort':
      return { kind: 'cancelled', document: { cancelled: true }, exitCode: 0 };
  }
}
