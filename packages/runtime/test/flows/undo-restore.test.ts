import { JackinError } from '@jackin/core';
import { describe, expect, test } from '@jest/globals';
import { planRestore } from '../../src/decide/index.ts';
import { planRestoreFailure } from '../../src/flows/undo-restore.ts';
import type { StepOp } from '../../src/plan.ts';
import { BASE, CALL, container, factsOf, SESSION } from '../decide/fixtures.ts';

const BROKEN = container({ startable: { ok: false, reason: 'network net-1 is gone' } });

/** The undoing of a restore that failed at one of its steps. */
function undone(
  failed: StepOp,
  observed: Parameters<typeof factsOf>[1] = { observation: { container: BROKEN } },
) {
  const before = factsOf('docker', observed);
  const restored = planRestore({ ...CALL, facts: before, session: SESSION });
  if (restored.outcome === 'blocked') throw restored.error;
  const { plan } = restored;
  const at = plan.steps.findIndex(({ op }) => op === failed);
  const error = new JackinError({
    code: 'X',
    message: 'x',
    details: {
      failed_step: plan.steps[at],
      done_steps: plan.steps.slice(0, at).map(({ op }) => ({ op, state: 'done' })),
    },
  });
  return planRestoreFailure({ ...CALL, before, plan, error, nonce: 'n', graceMs: 1 });
}

const ops = (plan: ReturnType<typeof undone>) => plan?.steps.map(({ op }) => op) ?? null;

describe('what a failed restore leaves behind', () => {
  test.each<[StepOp, StepOp[] | null]>([
    ['record_status', null],
    ['rename_container', ['record_status']],
    ['write_agent_config', ['record_status', 'rename_container']],
    ['create_resources', ['record_status', 'remove_container', 'rename_container']],
    [
      'start_container',
      [
        'record_status',
        'stop_container',
        'end_leftovers',
        'record_status',
        'remove_container',
        'rename_container',
      ],
    ],
  ])('of tier 2 past a container that is put aside, failed at %s: %j', (failed, expected) => {
    const plan = undone(failed);
    expect(ops(plan)).toEqual(expected);
    expect(plan?.steps.find(({ op }) => op === 'rename_container') ?? { to: BASE }).toMatchObject({
      to: BASE,
    });
  });

  test('nothing is removed where there was no container to go back to', () => {
    const gone = { observation: { container: { state: 'missing' } } } as const;
    expect(ops(undone('start_container', gone))).toEqual([
      'record_status',
      'stop_container',
      'end_leftovers',
      'record_status',
    ]);
  });

  test('a new container is removed only while it is known not to run', () => {
    const remove = undone('start_container')?.steps.find(({ op }) => op === 'remove_container');
    expect(remove?.requires).toEqual([{ fact: 'container', in: ['stopped', 'missing'] }]);
  });
});
