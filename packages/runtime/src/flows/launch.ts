import { randomUUID } from 'node:crypto';
import { type EventSink, JackinError, newInstanceId, newNonce, toJackinError } from '@jackin/core';
import { baseName, derivedNames, type Manifest } from '@jackin/instance';
import type { EngineFact } from '../backend.ts';
import { planLaunch } from '../decide/plan-launch.ts';
import { planLaunchFailure } from '../decide/plan-launch-failure.ts';
import type { Plan, Step, StepOp } from '../plan.ts';
import { sessionRequest } from './conversation.ts';
import { removeDeadLocks } from './dead-locks.ts';
import type { LaunchMaterial, PreparedLaunch } from './launch-request.ts';
import { planTrees, workdirInTrees } from './launch-trees.ts';
import { withInstanceLock } from './locking.ts';
import { prepareSession } from './prepare-session.ts';
import { requireEngine, seeEngine } from './require-engine.ts';
import { undoneOrTold } from './undone-or-told.ts';
import { GRACE_MS, type World } from './world.ts';

const NAME_ATTEMPTS = 5;

export interface Launched {
  manifest: Manifest;
  sessionId: string | null;
}

/** The plan of a new instance under a new name. */
export function launchPlan(
  world: World,
  prepared: PreparedLaunch,
  material: LaunchMaterial,
  engine: EngineFact | null = null,
): { plan: Plan; notices: string[] } {
  const { target, agent, launchTarget } = prepared;
  const { role, supportedAgents } = material;
  const instanceId = newInstanceId();
  const base = baseName({ instanceId, workspace: target.workspaceName, role: role.key });
  const mounts = material.recipe.mounts;
  const { trees, notices } = planTrees(world, {
    ...material,
    base,
    mounts,
    contained: material.recipe.backend === 'docker',
    workspace: target.label,
    role: role.key,
  });
  const { backend } = material.recipe;
  const workdir =
    backend === 'standalone'
      ? workdirInTrees(material.recipe.workdir, mounts, trees)
      : material.recipe.workdir;
  const recipe = { ...material.recipe, workdir };
  const plan = planLaunch({
    planId: randomUUID(),
    now: world.now(),
    instanceId,
    containerBase: base,
    names: derivedNames(base),
    workspaceName: target.workspaceName,
    workspaceLabel: target.label,
    workdir: recipe.workdir,
    hostWorkdirFingerprint: launchTarget.hostWorkdirFingerprint,
    role,
    supportedAgents,
    recipe,
    engine,
    session: sessionRequest(world, { agent: agent.id, argv: recipe.agent.argv, cwd: recipe.workdir }),
    trees,
  });
  return { plan, notices };
}

/**
 * Starts a new instance. A failure takes back what this launch made and nothing else; what has state by then is kept as
 * `failed_setup` and named in the error (docs/status-and-causes.md#launch).
 * @param onRecorded called once when the row of the instance is written
 */
export async function launch(
  world: World,
  prepared: PreparedLaunch,
  onRecorded: () => void = () => undefined,
): Promise<Launched> {
  const engine = await seeEngine(world, prepared.backend);
  const material = await prepared.make(engine);
  requireEngine(engine, prepared.backend);
  await removeDeadLocks(world);
  for (let attempt = 1; ; attempt += 1) {
    const { plan, notices } = launchPlan(world, prepared, material, engine);
    if (attempt === 1) tellNotices(world, material.notices, notices);
    await prepareSession(world, plan);
    try {
      return await carryOut(world, plan, onRecorded);
    } catch (error) {
      if (!nameTaken(toJackinError(error)) || attempt === NAME_ATTEMPTS) throw error;
    }
  }
}

function tellNotices(world: World, unenforced: readonly string[], trees: readonly string[]): void {
  const tell = (code: string) => (message: string) =>
    world.events({ type: 'notice', level: 'warn', code, message });
  unenforced.forEach(tell('NOT_ENFORCED'));
  trees.forEach(tell('TREE_NOTE'));
}

async function carryOut(world: World, plan: Plan, onRecorded: () => void): Promise<Launched> {
  const base = plan.container_base as string;
  return withInstanceLock(world, base, { purpose: 'load' }, async (lock) => {
    const events: EventSink = (event) => {
      world.events(event);
      if (event.type === 'step' && event.op === 'create_instance' && event.state === 'done') onRecorded();
    };
    try {
      const receipt = await world.run(plan, lock, events);
      const manifest = await world.store.read(base);
      if (manifest === null) throw new Error(`${base} is gone right after its launch`);
      return { manifest, sessionId: receipt.session?.session_id ?? null };
    } catch (thrown) {
      const error = toJackinError(thrown);
      throw (await rollBack(world, plan, error, async (undo) => void (await world.run(undo, lock)))) ?? error;
    }
  });
}

/** The error to show: the failure itself, with what is left of the launch named; null when nothing is. */
async function rollBack(
  world: World,
  plan: Plan,
  error: JackinError,
  run: (undo: Plan) => Promise<void>,
): Promise<JackinError | null> {
  const failed = (error.details.failed_step as { op: StepOp } | undefined)?.op;
  if (failed === undefined) return null;
  const create = plan.steps.find(
    (step): step is Extract<Step, { op: 'create_instance' }> => step.op === 'create_instance',
  );
  const done = ((error.details.done_steps as { op: StepOp }[] | undefined) ?? []).map(({ op }) => op);
  const logTail = String(error.details.log_tail ?? '')
    .split('\n')
    .filter((line) => line !== '');
  const outcome = planLaunchFailure({
    planId: randomUUID(),
    now: world.now(),
    manifest: create?.manifest as Manifest,
    done,
    failed,
    error,
    logTail,
    nonce: newNonce(),
    graceMs: GRACE_MS,
    trees: plan.steps.flatMap((step) =>
      step.op === 'materialise_trees'
        ? step.trees.map(({ dst, tree }) => ({ mount_dst: dst, path: tree }))
        : [],
    ),
    leftBehind: Array.isArray(error.details.left) && error.details.left.length > 0,
  });
  if (outcome.outcome === 'no_trace') return null;
  if (outcome.outcome === 'not_a_setup_failure') return runsAllTheSame(plan, error);
  if (outcome.outcome === 'taken_back') {
    await undoneOrTold(world, () => run(outcome.plan));
    return null;
  }
  const undone = await undoneOrTold(world, () => run(outcome.plan));
  const { instance_id: id, container_base: base } = plan;
  return new JackinError({
    code: error.code,
    message: `${sentence(error.message)} ${base} is kept${undone ? ' as failed_setup' : ', though its record could not be completed'}.`,
    hint: `${error.hint === undefined ? '' : `${error.hint}\n`}${again(error, id)} - or remove it with: jackin purge ${id}`,
    details: {
      ...error.details,
      instance_id: id,
      container_base: base,
      status: undone ? 'failed_setup' : null,
      log_tail: logTail,
      undone,
    },
    cause: error,
    exitCode: error.exitCode,
  });
}

/** An instance is built from what it was prepared with: a role that had to be corrected is another one. */
function again({ code }: JackinError, id: string | null): string {
  return code === 'IMAGE_BUILD_FAILED'
    ? `Then start anew with: jackin load --new - or, if only the engine was in trouble, jackin resume ${id}`
    : `Try it again with: jackin resume ${id}`;
}

/** The session is usable: only what came after its start failed. */
function runsAllTheSame({ instance_id: id, container_base: base }: Plan, error: JackinError): JackinError {
  return new JackinError({
    code: error.code,
    message: `${sentence(error.message)} The session of ${base} runs all the same.`,
    hint: `${error.hint === undefined ? '' : `${error.hint}\n`}Attach to it with: jackin hardline ${id} - or remove it with: jackin purge ${id}`,
    details: { ...error.details, instance_id: id, container_base: base },
    cause: error,
    exitCode: error.exitCode,
  });
}

/** Another one follows. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function nameTaken(error: JackinError): boolean {
  return (
    error.code === 'INSTANCE_EXISTS' || (error.code === 'STATE_CHANGED' && error.details.fact === 'name_free')
  );
}
