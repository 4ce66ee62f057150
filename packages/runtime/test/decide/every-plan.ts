import { JackinError } from '@jackin/core';
import {
  type CleanConsent,
  classifyExit,
  keptStatus,
  planClean,
  planEject,
  planKeep,
  planReconcile,
  planRecord,
  planRestore,
  planStop,
} from '../../src/decide/index.ts';
import type { InstanceFacts, Plan } from '../../src/index.ts';
import { CALL, NOW, SESSION } from './fixtures.ts';

/** Every plan any decision makes from these facts, a purge without its strongest consent included. */
export function allPlans(facts: InstanceFacts): Plan[] {
  const restored = planRestore({ ...CALL, facts, session: SESSION });
  return [
    ...planReconcile({ ...CALL, facts: [facts], indexState: 'ok' }),
    ...(restored.outcome === 'blocked' ? [] : [restored.plan]),
    ...endPlans(facts),
    attempt(() => planStop({ ...CALL, facts })),
    attempt(() => planEject({ ...CALL, facts })),
    attempt(() => planClean({ ...CALL, facts, purpose: 'exit', consent: 'none' })),
    purgePlan(facts, 'none'),
    purgePlan(facts, 'yes'),
    purgePlan(facts, 'force'),
  ].filter((plan) => plan !== null);
}

export function purgePlan(facts: InstanceFacts, consent: CleanConsent): Plan | null {
  return attempt(() => planClean({ ...CALL, facts, purpose: 'purge', consent }));
}

function endPlans(facts: InstanceFacts): (Plan | null)[] {
  const classification = classifyExit(facts, NOW);
  if (classification.outcome !== 'ended') return [];
  const { status, cause } = classification;
  const record = planRecord({ ...CALL, facts, status, cause });
  if (!classification.exit_flow) return [record];
  const kept = keptStatus(facts.isolated);
  return [
    record,
    attempt(() => planKeep({ ...CALL, facts, classification, intent: 'policy', status: kept })),
  ];
}

/** A refusal is an answer; anything else is a fault of the decision. */
function attempt(plan: () => Plan): Plan | null {
  try {
    return plan();
  } catch (error) {
    if (error instanceof JackinError) return null;
    throw error;
  }
}
