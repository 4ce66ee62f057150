import { toJackinError } from '@jackin/core';
import type { Backend, EngineFact, InstanceObservation, InstanceRef, OrphanFact } from '../backend.ts';
import { bounded } from './bounded.ts';
import { engineFactSchema, instanceObservationSchema, orphansSchema } from './inventory-schema.ts';

/** One backend's answer after checking: every ref asked for has an observation, and doubt is `unreachable`. */
export interface CheckedInventory {
  engine: EngineFact;
  observationOf(ref: InstanceRef): InstanceObservation;
  orphans: OrphanFact[];
}

/**
 * One call of `backend.observe`, bounded and validated. An error, a hang, an answer of another shape and an instance
 * the answer forgot all become `unreachable`; never an exception, never "not there" (docs/architecture.md).
 */
export async function takeInventory(
  kind: Backend['kind'],
  backend: Backend | undefined,
  refs: InstanceRef[],
  timeoutMs: number,
): Promise<CheckedInventory> {
  if (!backend) return unreachableInventory(kind, `this jackin has no ${kind} backend`);
  try {
    const answer = await bounded(`Observing the ${kind} backend`, timeoutMs, undefined, (signal) =>
      backend.observe(refs, signal),
    );
    return check(kind, answer);
  } catch (thrown) {
    return unreachableInventory(kind, toJackinError(thrown).message);
  }
}

function check(kind: Backend['kind'], answer: unknown): CheckedInventory {
  const { engine, instances, orphans } = (answer ?? {}) as Record<string, unknown>;
  const checkedEngine = engineFactSchema.safeParse(engine);
  if (!checkedEngine.success || !(instances instanceof Map)) {
    return unreachableInventory(kind, `the ${kind} backend gave an answer that makes no sense`);
  }
  const checkedOrphans = orphansSchema.safeParse(orphans);
  return {
    engine: checkedEngine.data,
    observationOf: (ref) => observationFrom(kind, instances, ref),
    orphans: checkedOrphans.success ? checkedOrphans.data : [],
  };
}

function observationFrom(
  kind: Backend['kind'],
  instances: Map<unknown, unknown>,
  ref: InstanceRef,
): InstanceObservation {
  if (!instances.has(ref.instance_id)) {
    return unreachableObservation(`the ${kind} backend did not report ${ref.container_base}`);
  }
  const checked = instanceObservationSchema.safeParse(instances.get(ref.instance_id));
  if (checked.success) return checked.data;
  return unreachableObservation(
    `the ${kind} backend gave an answer about ${ref.container_base} that makes no sense`,
  );
}

function unreachableInventory(kind: Backend['kind'], reason: string): CheckedInventory {
  return {
    engine: { state: 'unreachable', endpoint: kind, reason },
    observationOf: () => unreachableObservation(reason),
    orphans: [],
  };
}

/** Of an instance that could not be looked at: nothing is known about anything of it. */
export function unreachableObservation(reason: string): InstanceObservation {
  return {
    container: { state: 'unreachable', reason },
    sidecar: null,
    image: null,
    network: 'unknown',
    volume: 'unknown',
    leftover_pids: [],
  };
}
