import { causeStrength, isLegalTransition } from '@jackin/instance';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classifyExit, planReconcile, reconcileInstance } from '../../src/decide/index.ts';
import { planSchema } from '../../src/plan.ts';
import { anyFacts, exitCause } from './arbitraries.ts';
import { allPlans, purgePlan } from './every-plan.ts';
import { applied, CALL, NOW } from './fixtures.ts';

const RUNS = { numRuns: 2000 };

describe('for any facts', () => {
  test('an exit code alone is never a clean end', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { exit_cause: _cause, stop_request: _asked, ...manifest } = facts.manifest;
        const state_files = { ...facts.state_files, exit_record: { state: 'absent' as const } };
        const seen = classifyExit({ ...facts, manifest, state_files }, NOW);
        if (seen.outcome === 'ended')
          expect([seen.clean, seen.exit_flow, seen.cause?.kind === 'clean']).toEqual([false, false, false]);
      }),
      RUNS,
    );
  });

  test('a recorded cause is never overwritten by a weaker one', () => {
    fc.assert(
      fc.property(anyFacts, exitCause, (facts, exit_cause) => {
        const status = facts.manifest.status === 'running' ? 'active' : facts.manifest.status;
        const state_files = { ...facts.state_files, heartbeat: { state: 'absent' as const } };
        const seen = classifyExit(
          { ...facts, state_files, manifest: { ...facts.manifest, status, exit_cause } },
          NOW,
        );
        if (seen.outcome !== 'ended') return;
        const strength = causeStrength(seen.cause?.kind ?? 'unknown');
        expect(strength).toBeGreaterThanOrEqual(causeStrength(exit_cause.kind));
        if (strength === causeStrength(exit_cause.kind)) expect(seen.cause?.kind).toBe(exit_cause.kind);
      }),
      RUNS,
    );
  });

  test('every plan survives JSON and its schema unchanged', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        for (const plan of [...allPlans(facts), purgePlan(facts, 'named')]) {
          if (plan !== null) expect(planSchema.parse(JSON.parse(JSON.stringify(plan)))).toStrictEqual(plan);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('every status a plan records is a legal transition', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        for (const plan of [...allPlans(facts), purgePlan(facts, 'named')]) {
          let from = facts.manifest.status;
          for (const step of plan?.steps ?? []) {
            if (step.op !== 'record_status') continue;
            expect({ from, to: step.status, legal: isLegalTransition(from, step.status) }).toMatchObject({
              legal: true,
            });
            from = step.status;
          }
        }
      }),
      RUNS,
    );
  });

  test('reconcile removes nothing, leaves a launch alone and converges', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const plans = planReconcile({ ...CALL, facts: [facts], indexState: 'stale' });
        const ops = plans.flatMap((plan) => plan.steps.map((step) => step.op));
        expect(ops.filter((op) => op !== 'record_status' && op !== 'rebuild_index')).toEqual([]);
        if (facts.lock.state !== 'free') expect(ops).toEqual(['rebuild_index']);
        const [, plan] = plans;
        if (plan === undefined) return;
        expect(reconcileInstance({ ...CALL, facts: applied(facts, plan) })).toBeNull();
      }),
      RUNS,
    );
  });
});
