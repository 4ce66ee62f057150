import { lstat, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execute } from '../../src/execute/executor.ts';
import { launchPlan, mustObserve, purgePlan } from '../execute/support/decisions.ts';
import { newSubject } from '../execute/support/plans.ts';
import { createScratch, listing, type Scratch } from '../execute/support/scratch.ts';

describe('a state directory whose socket paths cannot be connected', () => {
  let runtimeDir: string;
  let scratch: Scratch;

  beforeEach(async () => {
    runtimeDir = await mkdtemp(join(tmpdir(), 'jk-xdg-'));
    scratch = await createScratch({ depth: 'd'.repeat(90), env: { XDG_RUNTIME_DIR: runtimeDir } });
  });
  afterEach(async () => {
    await scratch.dispose();
    await rm(runtimeDir, { recursive: true, force: true });
  });

  it('gets a short private runtime directory, which is recorded and goes with the instance', async () => {
    const subject = newSubject(scratch.workdir);
    await execute(launchPlan(subject), scratch.ports());
    const socket = join(runtimeDir, 'jackin', subject.instanceId, 'capsule.sock');
    const manifest = JSON.parse(await readFile(scratch.paths.instance(subject.base).manifest, 'utf8'));
    expect(manifest.backend.standalone.socket).toBe(socket);
    expect((await lstat(dirname(socket))).mode & 0o777).toBe(0o700);
    const facts = await mustObserve(scratch, subject);
    expect(facts.capsule.state).toBe('answers');

    await execute(purgePlan(facts), scratch.ports());
    expect(await listing(join(runtimeDir, 'jackin'))).toEqual([]);
  });

  it('refuses a directory that somebody laid out as a link', async () => {
    const subject = newSubject(scratch.workdir);
    const elsewhere = join(scratch.root, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(runtimeDir, 'jackin'));
    await expect(execute(launchPlan(subject), scratch.ports())).rejects.toMatchObject({
      code: 'STATE_DIR_NOT_PRIVATE',
      details: { failed_step: { op: 'start_container' } },
    });
    expect(await listing(elsewhere)).toEqual([]);
  });
});
