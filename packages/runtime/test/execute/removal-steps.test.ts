import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { cleanSteps, newSubject, planOf, type Subject } from './support/plans.ts';
import { createScratch, listing, type Scratch } from './support/scratch.ts';

let scratch: Scratch;
let subject: Subject;

beforeEach(async () => {
  scratch = await createScratch();
  subject = newSubject(scratch.workdir);
  await execute(
    planOf(subject, 'launch', [
      { op: 'create_instance', manifest: subject.manifest },
      { op: 'prepare_socket_dir' },
    ]),
    scratch.ports(),
  );
});
afterEach(() => scratch.dispose());

const run = (...ops: Parameters<typeof planOf>[2]) => execute(planOf(subject, 'clean', ops), scratch.ports());

it('asks for a backend this jackin does not have before the first step too', async () => {
  const steps = cleanSteps();
  const plan = { ...planOf(subject, 'clean', steps), backend: 'docker' as const };
  await expect(execute(plan, scratch.ports())).rejects.toMatchObject({
    code: 'BACKEND_UNAVAILABLE',
    details: { done_steps: [] },
  });
  expect((await scratch.store.read(subject.base))?.status).toBe('active');
});

describe('removing the directories', () => {
  it('never follows a link out of them', async () => {
    await writeFile(join(scratch.workdir, 'precious'), '');
    const place = scratch.paths.instance(subject.base);
    await symlink(scratch.workdir, join(place.home, 'project'));
    await symlink(scratch.workdir, join(place.sockets, 'project'));
    const receipt = await run(
      { op: 'remove_data_dir', removes: ['data'] },
      { op: 'remove_socket_dir', removes: ['sockets'] },
    );
    expect(receipt.removed).toEqual(['data', 'sockets']);
    await expect(listing(scratch.workdir)).resolves.toEqual(['precious']);
  });

  it('skips what is gone and reports nothing as removed', async () => {
    await run({ op: 'remove_data_dir' }, { op: 'remove_socket_dir' });
    const receipt = await run(
      { op: 'remove_data_dir', removes: ['data'] },
      { op: 'remove_socket_dir', removes: ['sockets'] },
    );
    expect(receipt).toMatchObject({ removed: [], steps: [{ state: 'skipped' }, { state: 'skipped' }] });
  });

  it('keeps the record when it fails, and says why', async () => {
    const { sockets } = scratch.paths.instance(subject.base);
    const bad = planOf(subject, 'clean', cleanSteps());
    const { base } = subject;
    const noDataDir = {
      ...scratch.paths,
      // A data directory that removal is not confined to: the step must fail.
      instance: (name: string) => ({ ...scratch.paths.instance(name), dir: name === base ? sockets : name }),
    };
    await expect(execute(bad, scratch.ports({ paths: noDataDir }))).rejects.toMatchObject({
      code: 'PATH_OUTSIDE',
      details: { failed_step: { op: 'remove_data_dir' } },
    });
    expect((await scratch.store.read(base))?.status).toBe('purged');
    expect((await scratch.store.load()).rows).toMatchObject([{ container_base: base, status: 'purged' }]);
  });
});

describe('removing the lock', () => {
  it('gives back the lock the plan runs under, and the following steps run without it', async () => {
    const { lock: path } = scratch.paths.instance(subject.base);
    const lock = await acquireLock(path, { purpose: 'clean', locksDb: scratch.paths.locksDb, waitMs: 0 });
    const plan = planOf(subject, 'clean', [{ op: 'remove_lock' }, { op: 'record_status', status: 'purged' }]);
    await execute(plan, scratch.ports({ lock }));
    await expect(listing(scratch.paths.dataDir)).resolves.not.toContain(`${subject.base}.lock`);
    expect((await scratch.store.read(subject.base))?.status).toBe('purged');
  });

  it('leaves a lock alone that somebody else holds', async () => {
    const { lock: path } = scratch.paths.instance(subject.base);
    const lock = await acquireLock(path, { purpose: 'other', locksDb: scratch.paths.locksDb, waitMs: 0 });
    await expect(run({ op: 'remove_lock' })).rejects.toMatchObject({ code: 'LOCK_HELD' });
    lock.assertHeld();
    await lock.release();
    expect((await run({ op: 'remove_lock' })).steps).toMatchObject([{ state: 'done' }]);
    expect((await run({ op: 'remove_lock' })).steps).toMatchObject([{ state: 'skipped' }]);
  });
});
