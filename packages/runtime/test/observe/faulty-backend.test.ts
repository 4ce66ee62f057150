import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  classifyExit,
  planClean,
  planEject,
  planKeep,
  planReconcile,
  planRestore,
  planStop,
} from '../../src/decide/index.ts';
import { execute } from '../../src/execute/executor.ts';
import type { InstanceFacts } from '../../src/facts.ts';
import { observe } from '../../src/observe/observe.ts';
import { type Plan, REMOVING_OPS } from '../../src/plan.ts';
import { launchPlan, mustObserve } from '../execute/support/decisions.ts';
import { FAULTS, type Fault, type Method, withFault } from '../execute/support/faulty-backend.ts';
import { newSubject, type Subject } from '../execute/support/plans.ts';
import { createScratch, killInstance, type Scratch } from '../execute/support/scratch.ts';

let scratch: Scratch;
let running: Subject;
let stopped: Subject;

beforeAll(async () => {
  scratch = await createScratch();
  running = newSubject(scratch.workdir);
  stopped = newSubject(scratch.workdir);
  for (const subject of [running, stopped]) await execute(launchPlan(subject), scratch.ports());
  await killInstance(stopped.instanceId);
});
afterAll(() => scratch.dispose());

async function factsWith(subject: Subject, method: Method, fault: Fault): Promise<InstanceFacts> {
  const backends = new Map([['standalone' as const, withFault(scratch.backend, method, fault)]]);
  const bounds = { backendMs: 200, capsuleMs: 200 };
  const { facts } = await observe({ ...scratch.observeDeps, backends, bounds }, { bases: [subject.base] });
  return facts[0] as InstanceFacts;
}

/** Every plan the decisions make of these facts, with every consent there is. */
function everyPlan(facts: InstanceFacts): Plan[] {
  const now = new Date().toISOString();
  const input = { planId: 'p', now, facts, nonce: 'nonce-nonce', graceMs: 0 };
  const seen = classifyExit(facts, now);
  const session = running.session;
  const attempts: (() => Plan | Plan[])[] = [
    () => planClean({ ...input, purpose: 'purge', consent: 'named' }),
    () => planClean({ ...input, purpose: 'exit', consent: 'named' }),
    () => planEject(input),
    () => planStop(input),
    () => planReconcile({ ...input, facts: [facts], indexState: 'ok' }),
    () => {
      const restore = planRestore({ ...input, session });
      return restore.outcome === 'blocked' ? [] : restore.plan;
    },
    () => {
      if (seen.outcome !== 'ended') return [];
      return planKeep({ ...input, classification: seen, intent: 'policy', status: 'restore_available' });
    },
  ];
  return attempts.flatMap((attempt) => {
    try {
      return attempt();
    } catch {
      return [];
    }
  });
}

const removing = (plans: Plan[]) =>
  plans.flatMap(({ steps }) => steps.map(({ op }) => op)).filter((op) => REMOVING_OPS.has(op));

describe('what a backend that misbehaves makes known', () => {
  it('is removed for good reasons only: the same plans of certain facts do remove', async () => {
    expect(removing(everyPlan(await mustObserve(scratch, stopped)))).toContain('remove_data_dir');
    expect(removing(everyPlan(await mustObserve(scratch, running)))).toContain('remove_data_dir');
  });

  describe.each(FAULTS)('when observing ends in: %s', (fault) => {
    it('is that the engine cannot be reached, and no plan removes anything', async () => {
      for (const subject of [running, stopped]) {
        const facts = await factsWith(subject, 'observe', fault);
        expect(facts.engine.state).toBe('unreachable');
        expect(facts.observation.container.state).toBe('unreachable');
        expect(facts.capsule.state).toBe('unknown');
        expect([facts.engine_matches, facts.engine_run, facts.boot]).toEqual([
          'unknown',
          'unknown',
          'unknown',
        ]);
        expect(removing(everyPlan(facts))).toEqual([]);
      }
    });
  });

  describe.each(FAULTS)('when the way to the capsule ends in: %s', (fault) => {
    it('is not that no agent is alive, and no plan removes anything', async () => {
      const facts = await factsWith(running, 'capsule', fault);
      expect(facts.observation.container.state).toBe('running');
      expect(facts.capsule.state).not.toBe('answers');
      expect(removing(everyPlan(facts))).toEqual([]);
    });
  });

  it('is nothing about an instance it forgot to mention', async () => {
    const forgetful = {
      ...scratch.backend,
      observe: async (_refs: unknown, signal: AbortSignal) => scratch.backend.observe([], signal),
    };
    const backends = new Map([['standalone' as const, forgetful]]);
    const { facts } = await observe({ ...scratch.observeDeps, backends }, { bases: [stopped.base] });
    expect(facts[0]?.observation.container).toEqual({
      state: 'unreachable',
      reason: `the standalone backend did not report ${stopped.base}`,
    });
    expect(removing(everyPlan(facts[0] as InstanceFacts))).toEqual([]);
  });

  it('is nothing at all when this jackin has no such backend', async () => {
    const { facts, engines } = await observe({ ...scratch.observeDeps, backends: new Map() });
    expect(engines).toEqual([]);
    for (const one of facts) {
      expect(one.engine).toMatchObject({
        state: 'unreachable',
        reason: 'this jackin has no standalone backend',
      });
      expect(removing(everyPlan(one))).toEqual([]);
    }
  });
});
