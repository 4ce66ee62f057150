import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type JackinError, toJackinError } from '@jackin/core';
import { planReconcile, reconcileInstance } from '../decide/plan-reconcile.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Observation, Selection } from '../observe/observe.ts';
import type { Plan } from '../plan.ts';
import { withInstanceLock } from './locking.ts';
import type { World } from './world.ts';

export interface Notice {
  code: string;
  message: string;
}

/** A look that is true, and what could not be written about it. */
export type Reconciled = Observation & { notices: Notice[] };

/**
 * Brings the records to the truth at the start of a command and returns the look that is true afterwards
 * (docs/status-and-causes.md#reconcile). It deletes nothing and never fails the command: what another process works on is
 * left alone, and records that cannot be written are told as a notice.
 */
export async function reconcile(world: World, selection: Selection = {}): Promise<Reconciled> {
  const seen = await world.look(selection);
  const plans = planReconcile({
    planId: randomUUID(),
    now: world.now(),
    facts: seen.facts,
    indexState: indexStateOf(seen),
  });
  const notices: Notice[] = [];
  const corrected = new Map<string, InstanceFacts | null>();
  let changed = false;
  for (const plan of plans) {
    try {
      const { container_base: base } = plan;
      const facts = seen.facts.find((one) => one.container_base === base);
      if (facts === undefined) await world.run(plan, null);
      else corrected.set(facts.container_base, await correct(world, plan, facts));
      changed = true;
    } catch (error) {
      const notice = refusal(world, plan, toJackinError(error));
      if (notice === null) continue;
      notices.push(notice);
      world.events({ type: 'notice', level: 'warn', ...notice });
      // What cannot be written for one cannot be written for the others either.
      if (UNWRITABLE.has(notice.code)) break;
    }
  }
  if (!changed) return { ...seen, notices };
  const after = await afterwards(world, seen, corrected);
  // What was wrong with an index that is right by now was still found by this command.
  const told = new Set(after.loaded.notices.map(({ message }) => message));
  return {
    ...after,
    notices: [...seen.loaded.notices.filter(({ message }) => !told.has(message)), ...notices],
  };
}

/** Where there is nothing yet, a missing index is the truth: looking must not make the state directory. */
function indexStateOf({ loaded }: Observation): Observation['loaded']['indexState'] {
  const nothing = loaded.instances.length + loaded.corrupt.length === 0;
  return loaded.indexState === 'missing' && nothing ? 'ok' : loaded.indexState;
}

/**
 * Under the lock: a manifest that is as it was seen means that no other jackin worked on the instance since, so the look
 * still justifies the plan, however many instances there are. Otherwise it is looked at again, and the plan that runs is
 * the one those facts justify.
 * @returns the facts the record was brought to; null: the instance is gone
 */
async function correct(world: World, plan: Plan, seen: InstanceFacts): Promise<InstanceFacts | null> {
  const { container_base: base } = seen;
  return withInstanceLock(world, base, { purpose: 'reconcile', waitMs: 0 }, async (lock) => {
    const untouched = isDeepStrictEqual(await world.store.read(base), seen.manifest);
    const facts = untouched ? seen : await world.lookAt(base);
    if (facts === null) return null;
    const fresh = reconcileInstance({ planId: plan.plan_id, now: world.now(), facts });
    if (fresh !== null) await world.run(fresh, lock, world.events, facts);
    const manifest = await world.store.read(base);
    return manifest === null ? null : { ...facts, manifest };
  });
}

/** The same look with the records as they are now: the engine has nothing new to say about what it was just asked. */
async function afterwards(
  world: World,
  seen: Observation,
  corrected: ReadonlyMap<string, InstanceFacts | null>,
): Promise<Observation> {
  const loaded = await world.store.load();
  const facts = await Promise.all(
    loaded.instances.map(async (manifest): Promise<InstanceFacts | null> => {
      const { container_base: base } = manifest;
      const known = corrected.get(base) ?? seen.facts.find((one) => one.container_base === base);
      // Another jackin wrote to it meanwhile, or it is recorded in another run of its engine: what was seen is old.
      const before = seen.facts.find((one) => one.container_base === base)?.manifest.engine;
      const holds = known != null && isDeepStrictEqual(manifest, known.manifest);
      return holds && isDeepStrictEqual(manifest.engine, before) ? known : world.lookAt(base);
    }),
  );
  return { ...seen, loaded, facts: facts.filter((one) => one !== null) };
}

const BUSY = new Set(['LOCK_HELD', 'LOCK_LOST', 'STATE_CHANGED', 'INSTANCE_NOT_FOUND', 'LOCK_GUARD_BUSY']);
const UNWRITABLE = new Set(['STATE_NOT_WRITABLE', 'DISK_FULL', 'STATE_DIR_NOT_PRIVATE']);

/** What the operator must hear about a correction that was not written; null when another process works on it. */
function refusal(world: World, plan: Plan, error: JackinError): Notice | null {
  if (BUSY.has(error.code)) {
    world.events({ type: 'debug', message: `not reconciled: ${plan.summary}`, fields: { code: error.code } });
    return null;
  }
  const hint = error.hint === undefined ? '' : ` ${error.hint}`;
  return { code: error.code, message: `The records could not be updated: ${error.message}${hint}` };
}
