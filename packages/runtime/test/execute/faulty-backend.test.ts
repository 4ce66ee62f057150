import { lstat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { createObserveOne } from '../../src/observe/observe.ts';
import { launchPlan, mustObserve, purgePlan } from './support/decisions.ts';
import { FAULTS, type Fault, type Method, withFault } from './support/faulty-backend.ts';
import { newSubject, type Subject } from './support/plans.ts';
import { createScratch, type Scratch } from './support/scratch.ts';

let scratch: Scratch;
let subject: Subject;

beforeEach(async () => {
  scratch = await createScratch();
  subject = newSubject(scratch.workdir);
});
afterEach(() => scratch.dispose());

/** Bounds are short only for what hangs: everything else may take its time on a busy machine. */
function faultyPorts(method: Method, fault: Fault) {
  const backends = new Map([['standalone' as const, withFault(scratch.backend, method, fault)]]);
  const hangs = fault === 'hang';
  const bounds = hangs && method === 'observe' ? { backendMs: 300 } : {};
  // A hanging way to the capsule has a bound of its own, and the start before it must not be cut short.
  const callMs = hangs && method !== 'capsule' && method !== 'observe' ? { callMs: 3_000 } : {};
  const observeOne = createObserveOne({ ...scratch.observeDeps, backends, bounds });
  return scratch.ports({ backends, observeOne, ...callMs });
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** The methods a clean-up of a running instance relies on. */
describe.each(['observe', 'endLeftovers', 'remove'] as const)(
  'a clean-up whose backend fails at %s',
  (method) => {
    it.each(FAULTS)('with %s stops there; the data and an honest record stay', async (fault) => {
      await execute(launchPlan(subject), scratch.ports());
      const plan = purgePlan(await mustObserve(scratch, subject));
      await expect(execute(plan, faultyPorts(method, fault))).rejects.toMatchObject({
        code: expect.stringMatching(
          /^(STATE_CHANGED|ENGINE_UNREACHABLE|BACKEND_ANSWER_INVALID|OUTSIDE_CALL_TIMEOUT|OUTSIDE_CALL_FAILED)$/,
        ),
      });
      const place = scratch.paths.instance(subject.base);
      expect(await exists(place.home)).toBe(true);
      const { manifest } = await mustObserve(scratch, subject);
      expect(manifest.status).toBe(method === 'observe' ? 'running' : 'purged');
      await execute(purgePlan(await mustObserve(scratch, subject)), scratch.ports());
      expect(await exists(place.dir)).toBe(false);
    });
  },
);

/** A capsule that ended on our request needs no force, so the backend's own stop matters only without it. */
describe.each(FAULTS)('a clean-up whose backend cannot stop: %s', (fault) => {
  it('removes nothing while the capsule cannot be asked either', async () => {
    await execute(launchPlan(subject), scratch.ports());
    const plan = purgePlan(await mustObserve(scratch, subject));
    const ports = faultyPorts('stop', fault);
    const capsule = { connect: () => Promise.reject(new Error('refused')) };
    await expect(execute(plan, { ...ports, capsule })).rejects.toMatchObject({
      details: { failed_step: { op: 'stop_container' } },
    });
    expect((await mustObserve(scratch, subject)).capsule).toMatchObject({
      state: 'answers',
      sessions: [{ alive: true }],
    });
  });
});

describe.each(['create', 'start', 'capsule'] as const)('a launch whose backend fails at %s', (method) => {
  it.each(FAULTS)('with %s names the step, and the instance is there to be brought back', async (fault) => {
    await expect(execute(launchPlan(subject), faultyPorts(method, fault))).rejects.toMatchObject({
      details: {
        failed_step: {
          op: { create: 'create_resources', start: 'start_container', capsule: 'start_session' }[method],
        },
      },
    });
    expect((await mustObserve(scratch, subject)).manifest.status).toBe('active');
  });
});
