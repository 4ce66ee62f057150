import { JackinError } from '@jackin/core';
import { derivedNames, type Manifest } from '@jackin/instance';
import type { Backend } from '../backend.ts';
import type { InstanceFacts } from '../facts.ts';
import { bounded } from '../observe/bounded.ts';
import type { TreeLook } from '../observe/isolated-facts.ts';
import type { Plan, Step } from '../plan.ts';
import type { ExecutorPorts, StepContext } from './ports.ts';
import { evaluatePrecondition } from './preconditions.ts';

/** Bound of one engine call that is not a build, a start or a stop, in milliseconds. */
export const CALL_MS = 60_000;

export interface RunContext extends StepContext {
  assertLock(): void;
}

/** The context shared by the steps of one execution. */
export function createStepContext(plan: Plan, ports: ExecutorPorts): RunContext {
  let lockReleased = false;
  let lastManifest: Manifest | null = null;
  // Both are only read by steps that need an instance; the plan was checked to name one then.
  const base = plan.container_base ?? '';
  const instanceId = plan.instance_id ?? '';

  const manifestNow = async (): Promise<Manifest | null> => {
    const onDisk = await ports.store.read(base);
    if (onDisk) lastManifest = onDisk;
    else if (finishesRow(plan)) lastManifest ??= await manifestOfRow(ports, base);
    return onDisk;
  };

  return {
    plan,
    ports,
    base,
    instanceId,
    get backend() {
      return backendOf(plan, ports);
    },
    async ref() {
      const manifest = (await manifestNow()) ?? lastManifest;
      if (!manifest) throw instanceGone(base);
      return { instance_id: manifest.instance_id, container_base: base, manifest };
    },
    async facts(trees: TreeLook = 'record'): Promise<InstanceFacts | null> {
      await manifestNow();
      return ports.observeOne(base, lastManifest ?? undefined, trees);
    },
    lockReleased() {
      lockReleased = true;
    },
    assertLock() {
      if (!lockReleased) ports.lock?.assertHeld();
    },
  };
}

/** A clean-up that records nothing: there is no manifest any more to record it in. */
function finishesRow(plan: Plan): boolean {
  return plan.kind === 'clean' && !plan.steps.some(({ op }) => op === 'record_status');
}

/** What identifies an instance of which only the row is left: enough to find and end what there is of it. */
async function manifestOfRow(ports: ExecutorPorts, base: string): Promise<Manifest | null> {
  const { rows } = await ports.store.load();
  const row = rows.find((one) => one.container_base === base);
  if (row === undefined) return null;
  return {
    version: 2,
    instance_id: row.instance_id,
    container_base: base,
    created_at: row.updated_at,
    updated_at: row.updated_at,
    workspace_name: row.workspace_name,
    workspace_label: row.workspace_label,
    workdir: row.workdir,
    host_workdir_fingerprint: '',
    role_key: row.role_key,
    role_display_name: row.role_key,
    agent_runtime: row.agent_runtime,
    image_tag: row.backend === 'standalone' ? 'standalone' : '',
    status: row.status,
    docker: { role_container: base, network: derivedNames(base).network },
    ...(row.engine === undefined ? {} : { engine: row.engine }),
    sessions: [],
    supported_agents: [],
  };
}

/**
 * Looks again at the facts that justify a step. Throws STATE_CHANGED naming fact and value, also when the name belongs
 * to another instance by now.
 */
export async function checkPreconditions(step: Step, context: RunContext): Promise<void> {
  if (context.plan.container_base === null) return;
  const onDisk = await context.ports.store.read(context.base);
  if (onDisk && onDisk.instance_id !== context.instanceId) {
    throw stateChanged(step, context, 'instance', `${context.base} belongs to ${onDisk.instance_id}`);
  }
  if (step.requires.length === 0) return;
  const standIn = step.op === 'create_instance' ? step.manifest : undefined;
  const trees = step.requires.some(({ fact }) => fact === 'isolated') ? 'assess' : 'record';
  const facts = standIn ? await context.ports.observeOne(context.base, standIn) : await context.facts(trees);
  const rowStatus = onDisk ? null : await rowStatusOf(context);
  for (const precondition of step.requires) {
    const verdict = evaluatePrecondition(precondition, { facts, onDisk: onDisk !== null, rowStatus });
    if (!verdict.holds) throw stateChanged(step, context, precondition.fact, verdict.value);
  }
}

async function rowStatusOf(context: RunContext): Promise<Manifest['status'] | null> {
  const { rows } = await context.ports.store.load();
  return rows.find((row) => row.container_base === context.base)?.status ?? null;
}

function backendOf(plan: Plan, ports: ExecutorPorts): Backend {
  const backend = ports.backends.get(plan.backend);
  if (backend) return backend;
  throw new JackinError({
    code: 'BACKEND_UNAVAILABLE',
    message: `This jackin has no ${plan.backend} backend, which ${plan.container_base} lives on`,
    hint: 'Run `jackin doctor` to see which backends answer.',
  });
}

function stateChanged(step: Step, context: RunContext, fact: string, value: string): JackinError {
  return new JackinError({
    code: 'STATE_CHANGED',
    message: `${context.base} changed since the plan was made: ${fact} is now "${value}", so ${step.op} was not run`,
    hint: `Run \`jackin status ${context.instanceId} --detail\`, then the same command again.`,
    details: { fact, value, step_id: step.id, op: step.op },
  });
}

function instanceGone(base: string): JackinError {
  return new JackinError({
    code: 'INSTANCE_NOT_FOUND',
    message: `There is no manifest of ${base} any more`,
    hint: 'Run `jackin status` to see what exists.',
  });
}

/**
 * One outside call of a step, bounded also against a callee that ignores its signal. What a callee throws that has no
 * name gets one: OUTSIDE_CALL_FAILED says who failed, and that it was not jackin.
 */
export async function outside<T>(
  context: StepContext,
  what: string,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { callMs, signal } = context.ports;
  try {
    return await bounded(what, Math.min(timeoutMs, callMs ?? timeoutMs), signal, call);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof JackinError) throw thrown;
    throw new JackinError({
      code: 'OUTSIDE_CALL_FAILED',
      message: `${what} failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      hint: 'Run `jackin doctor` to see what answers, then run the same command again.',
      cause: thrown,
    });
  }
}
