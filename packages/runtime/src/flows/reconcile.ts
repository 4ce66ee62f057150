import { randomUUID } from 'node:crypto';
import { type JackinError, toJackinError } from '@jackin/core';
import { planReconcile, reconcileInstance } from '../decide/plan-reconcile.ts';
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
  let changed = false;
  for (const plan of plans) {
    try {
      changed = (await correct(world, plan)) || changed;
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
  const after = await world.look(selection);
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

/** Under the lock the facts are looked at again: the plan that runs is the one they justify now. */
async function correct(world: World, plan: Plan): Promise<boolean> {
  const base = plan.container_base;
  if (base === null) {
    await world.run(plan, null);
    return true;
  }
  return withInstanceLock(world, base, { purpose: 'reconcile', waitMs: 0 }, async (lock) => {
    const facts = await world.lookAt(base);
    if (facts === null) return true;
    const fresh = reconcileInstance({ planId: plan.plan_id, now: world.now(), facts });
    if (fresh !== null) await world.run(fresh, lock);
    return true;
  });
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
