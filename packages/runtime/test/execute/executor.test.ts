import { readFile } from 'node:fs/promises';
import { acquireLock, type JackinEvent } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { handlers } from '../../src/execute/handlers.ts';
import { type Plan, stepSchema } from '../../src/plan.ts';
import { cleanSteps, newSubject, planOf, type Subject } from './support/plans.ts';
import { createScratch, listing, type Scratch } from './support/scratch.ts';

let scratch: Scratch;
let subject: Subject;

beforeEach(async () => {
  scratch = await createScratch();
  subject = newSubject(scratch.workdir);
});
afterEach(() => scratch.dispose());

const create = () => planOf(subject, 'launch', [{ op: 'create_instance', manifest: subject.manifest }]);
const stepEvents = (): Extract<JackinEvent, { type: 'step' }>[] =>
  scratch.events.filter((event) => event.type === 'step');

describe('the executor takes nothing but a plan', () => {
  it('has one handler for every operation a plan can name', () => {
    const operations = stepSchema.options.map((option) => option.shape.op.value);
    expect(Object.keys(handlers).sort()).toEqual([...operations].sort());
  });

  it('tells every step before and after, and the plan around them', async () => {
    const plan = create();
    const receipt = await execute(plan, scratch.ports());
    const told = scratch.events.filter(({ type }) => type === 'plan' || type === 'step');
    expect(told).toMatchObject([
      { type: 'plan', state: 'started', kind: 'launch', steps: 1, container_base: subject.base },
      { type: 'step', state: 'started', step_id: '1-create_instance', plan_id: plan.plan_id },
      { type: 'step', state: 'done', step_id: '1-create_instance', op: 'create_instance' },
      { type: 'plan', state: 'done' },
    ]);
    expect(receipt).toMatchObject({
      plan_id: plan.plan_id,
      steps: [{ id: '1-create_instance', op: 'create_instance', state: 'done' }],
    });
  });

  it.each<[string, (plan: Plan) => unknown]>([
    ['a step that does not exist', (plan) => ({ ...plan, steps: [{ id: '1', op: 'format_disk' }] })],
    ['a name that is a path', (plan) => ({ ...plan, container_base: '../jk-x' })],
    ['steps about no instance', (plan) => ({ ...plan, instance_id: null })],
    ['a manifest of another instance', (plan) => ({ ...plan, instance_id: 'aaaaaaaa' })],
    ['no plan at all', () => null],
  ])('refuses %s before anything is done', async (_, spoil) => {
    await expect(execute(spoil(create()) as Plan, scratch.ports())).rejects.toMatchObject({
      code: 'PLAN_INVALID',
    });
    expect(scratch.events).toEqual([]);
    await expect(listing(scratch.root)).resolves.toEqual(['project']);
  });
});

describe('a step that may not run', () => {
  beforeEach(async () => {
    await execute(create(), scratch.ports());
    scratch.events.length = 0;
  });

  it('stops the plan when its fact changed, naming fact and value; nothing after it runs', async () => {
    const clean = planOf(subject, 'clean', cleanSteps());
    clean.steps[3] = {
      ...clean.steps[3],
      requires: [{ fact: 'status', in: ['crashed'] }],
    } as Plan['steps'][number];
    await expect(execute(clean, scratch.ports())).rejects.toMatchObject({
      code: 'STATE_CHANGED',
      message: expect.stringContaining('status is now "purged"'),
      details: {
        fact: 'status',
        value: 'purged',
        failed_step: { op: 'remove_data_dir' },
        done_steps: [{ op: 'record_status' }, { op: 'end_leftovers' }, { op: 'remove_container' }],
      },
    });
    expect(stepEvents().at(-1)).toMatchObject({ op: 'remove_data_dir', state: 'failed' });
    expect((await scratch.store.read(subject.base))?.status).toBe('purged');
  });

  it('stops the plan when the name belongs to another instance by now', async () => {
    const other = {
      ...create(),
      instance_id: 'aaaaaaaa',
      steps: planOf(subject, 'clean', cleanSteps()).steps,
    };
    await expect(execute(other, scratch.ports())).rejects.toMatchObject({
      code: 'STATE_CHANGED',
      details: { fact: 'instance' },
    });
    expect((await scratch.store.read(subject.base))?.status).toBe('active');
  });

  it('stops the plan when the lock was lost', async () => {
    const lock = await acquireLock(scratch.paths.instance(subject.base).lock, {
      purpose: 'test',
      locksDb: scratch.paths.locksDb,
      waitMs: 0,
    });
    await lock.release();
    const clean = planOf(subject, 'clean', cleanSteps());
    await expect(execute(clean, scratch.ports({ lock }))).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect((await scratch.store.read(subject.base))?.status).toBe('active');
  });

  it('is not started once the operator cancelled', async () => {
    const reason = new Error('cancelled');
    const clean = planOf(subject, 'clean', cleanSteps());
    const cancelled = execute(clean, scratch.ports({ signal: AbortSignal.abort(reason) }));
    await expect(cancelled).rejects.toMatchObject({ message: expect.stringContaining('cancelled') });
    expect((await scratch.store.read(subject.base))?.status).toBe('active');
  });

  it('names the backend that is missing', async () => {
    const clean = { ...planOf(subject, 'clean', cleanSteps()), backend: 'docker' as const };
    await expect(execute(clean, scratch.ports())).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      message: expect.stringContaining('docker'),
    });
  });
});

describe('a plan that comes back as JSON', () => {
  it('has the same effect, and leaves nothing after CLEAN', async () => {
    for (const transform of [
      (plan: Plan) => plan,
      (plan: Plan) => JSON.parse(JSON.stringify(plan)) as Plan,
    ]) {
      subject = newSubject(scratch.workdir);
      await execute(transform(create()), scratch.ports());
      const manifest = JSON.parse(await readFile(scratch.paths.instance(subject.base).manifest, 'utf8'));
      expect(manifest).toMatchObject({ instance_id: subject.instanceId, status: 'active' });
      const lock = await acquireLock(scratch.paths.instance(subject.base).lock, {
        purpose: 'test',
        locksDb: scratch.paths.locksDb,
        waitMs: 0,
      });
      const clean = transform(planOf(subject, 'clean', cleanSteps()));
      const receipt = await execute(clean, scratch.ports({ lock }));
      expect(receipt.removed).toEqual(['the data directory', 'the lock', 'the index row']);
      expect(await listing(scratch.paths.homeDir)).not.toContainEqual(
        expect.stringContaining(subject.instanceId),
      );
      expect((await scratch.store.load()).rows).toEqual([]);
    }
  });

  it('converges when it is executed again', async () => {
    await execute(create(), scratch.ports());
    const again = await execute(create(), scratch.ports());
    expect(again.steps).toMatchObject([{ state: 'skipped', detail: 'it exists already' }]);
    const clean = planOf(subject, 'clean', cleanSteps());
    await execute(clean, scratch.ports());
    const second = planOf(
      subject,
      'clean',
      cleanSteps().filter(({ op }) => !needsManifest.has(op)),
    );
    const receipt = await execute(second, scratch.ports());
    expect(receipt.removed).toEqual(['the index row']);
  });
});

/** What is left to do for an instance of which only the row remains. */
const needsManifest = new Set(['end_leftovers', 'remove_container']);
