import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classifyExit, decideExit, planRestore, restoreTier } from '../../src/decide/index.ts';
import type { InstanceFacts } from '../../src/facts.ts';
import { type Plan, REMOVING_OPS } from '../../src/plan.ts';
import { anyFacts } from './arbitraries.ts';
import { allPlans, purgePlan } from './every-plan.ts';
import { CALL, NOW, SESSION } from './fixtures.ts';

const RUNS = { numRuns: 2000 };
const removing = (plan: Plan) =>
  plan.steps.filter((step) => REMOVING_OPS.has(step.op)).map((step) => step.op);

/** What justifies ending or removing anything of an instance, and could not be seen. */
function uncertain({ engine, engine_matches, lock, observation, capsule, manifest }: InstanceFacts): boolean {
  const { container } = observation;
  return (
    engine.state === 'unreachable' ||
    engine_matches === 'no' ||
    lock.state !== 'free' ||
    container.state === 'foreign' ||
    container.state === 'unreachable' ||
    (container.state === 'running' && capsule.state !== 'answers') ||
    (container.state === 'missing' && engine_matches === 'unknown' && manifest.recipe?.backend === 'docker')
  );
}

describe('for any facts', () => {
  test('nothing is removed on an uncertain fact, except by a purge that was confirmed by name', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        if (!uncertain(facts)) return;
        for (const plan of allPlans(facts)) expect(removing(plan)).toEqual([]);
      }),
      RUNS,
    );
  });

  test('a purge refuses an unreachable or other engine, a foreign container and an agent nobody can see', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const unproven = facts.observation.container.state === 'missing' && facts.lock.state === 'free';
        const hidden = facts.engine.state === 'unreachable' || facts.engine_matches === 'no';
        if (uncertain(facts) && (hidden || !unproven)) expect(purgePlan(facts, 'named')).toBeNull();
      }),
      RUNS,
    );
  });

  test('a resource that is foreign or could not be seen is in no plan but a purge by name', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { network, volume, sidecar } = facts.observation;
        const unseen = [
          network === 'present' ? null : 'remove_network',
          volume === 'present' ? null : 'remove_volume',
          sidecar?.state === 'running' || sidecar?.state === 'stopped' ? null : 'remove_sidecar',
        ];
        for (const plan of allPlans(facts)) {
          if (facts.manifest.status === 'purged') continue;
          for (const op of removing(plan)) expect(unseen).not.toContain(op);
        }
        const named = purgePlan(facts, 'named');
        if (named !== null && network === 'foreign') expect(removing(named)).not.toContain('remove_network');
        if (named !== null && volume === 'foreign') expect(removing(named)).not.toContain('remove_volume');
      }),
      RUNS,
    );
  });

  test('a tree nobody could look at is removed only by a purge by name', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        if (facts.manifest.status === 'purged') return;
        if (facts.isolated.every(({ verdict }) => verdict !== 'unknown')) return;
        for (const plan of allPlans(facts)) {
          expect(removing(plan)).not.toContain('remove_isolated_trees');
          expect(removing(plan)).not.toContain('remove_data_dir');
        }
        const classification = classifyExit(facts, NOW);
        for (const value of ['ask', 'keep', 'clean'] as const) {
          for (const choice of [null, 'keep', 'clean'] as const) {
            const policy = { value, source: 'flag' } as const;
            const input = { classification, policy, canAsk: true, isolated: facts.isolated, choice } as const;
            expect(decideExit({ ...input, otherSessionsAlive: 'no' }).action).not.toBe('clean');
          }
        }
      }),
      RUNS,
    );
  });

  test('a restore takes the highest tier that is possible and removes nothing', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const tier = restoreTier(facts, NOW);
        if (tier.outcome === 'blocked') return;
        const { container } = facts.observation;
        const standalone = facts.manifest.recipe?.backend === 'standalone';
        const highest =
          container.state === 'running' ? 0 : container.state === 'stopped' && container.startable.ok ? 1 : 2;
        expect(tier.tier).toBe(standalone && highest === 2 ? 1 : highest);
        const result = planRestore({ ...CALL, facts, session: SESSION });
        if (result.outcome === 'blocked') throw new Error('a tier was chosen, so there is a plan');
        expect(removing(result.plan)).toEqual([]);
        const passesOver = tier.tier === 2 && container.state === 'stopped';
        expect(result.outcome === 'needs_consent' || !passesOver).toBe(true);
      }),
      RUNS,
    );
  });

  test('a clean-up goes through status, engine, trees, data, sockets, lock and row in this order', () => {
    const order = [
      ['record_status'],
      [
        'stop_container',
        'end_leftovers',
        'remove_container',
        'remove_sidecar',
        'remove_volume',
        'remove_network',
        'remove_keep_tag',
      ],
      ['remove_isolated_trees'],
      ['remove_data_dir'],
      ['remove_socket_dir'],
      ['remove_lock'],
      ['remove_index_row'],
    ];
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const plan = purgePlan(facts, 'named');
        if (plan === null) return;
        const ranks = plan.steps.map((step) => order.findIndex((ops) => ops.includes(step.op)));
        expect(ranks).not.toContain(-1);
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
        expect(new Set(ranks)).toEqual(
          new Set(facts.isolated.length > 0 ? ranks : ranks.filter((rank) => rank !== 2)),
        );
        expect([0, 3, 4, 5, 6].every((rank) => ranks.includes(rank))).toBe(true);
        expect(plan.steps[0]).toMatchObject({ op: 'record_status', status: 'purged' });
        const ended = plan.steps.findIndex((step) => step.op === 'stop_container');
        const removed = plan.steps.findIndex((step) => REMOVING_OPS.has(step.op));
        expect(ended).toBeLessThan(removed);
      }),
      RUNS,
    );
  });

  test('the arbitrary facts reach every kind of plan, or the properties above prove nothing', () => {
    const kinds = new Map<string, number>();
    for (const facts of fc.sample(anyFacts, { numRuns: 5000, seed: 7 })) {
      for (const plan of [...allPlans(facts), purgePlan(facts, 'named')]) {
        if (plan === null) continue;
        const kind = `${plan.kind}${plan.tier ?? ''}`;
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
    for (const kind of [
      'restore0',
      'restore1',
      'restore2',
      'stop',
      'keep',
      'clean',
      'eject',
      'record',
      'reconcile',
    ]) {
      expect({ kind, often: (kinds.get(kind) ?? 0) > 10 }).toEqual({ kind, often: true });
    }
  });
});
