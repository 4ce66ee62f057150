import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePrivateDir, findProcessesByEnv, systemClock } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StartContext } from '../../src/backend.ts';
import { createStandaloneBackend } from '../../src/standalone/adapter.ts';
import { newSubject, type Subject } from '../execute/support/plans.ts';
import { createScratch, type Scratch } from '../execute/support/scratch.ts';

/** A program in place of the capsule, to cause what a good capsule never does. */
describe('a capsule that cannot be started', () => {
  let scratch: Scratch;
  let subject: Subject;

  beforeEach(async () => {
    scratch = await createScratch();
    subject = newSubject(scratch.workdir);
    await scratch.store.create(subject.manifest);
    await ensurePrivateDir(scratch.paths.instance(subject.base).sockets);
  });
  afterEach(() => scratch.dispose());

  const context = (signal: AbortSignal): StartContext => {
    const { dir, home, state, sockets, agentConfig } = scratch.paths.instance(subject.base);
    const ref = { instance_id: subject.instanceId, container_base: subject.base, manifest: subject.manifest };
    return {
      ref,
      recipe: subject.recipe,
      dirs: { data: dir, home, state, sockets, agent_config: agentConfig },
      mounts: [],
      env: {},
      signal,
    };
  };
  const start = (capsuleProgram: { file: string; args: string[] }, signal?: AbortSignal) =>
    createStandaloneBackend({
      paths: scratch.paths,
      capsuleProgram,
      clock: systemClock,
      events: () => {},
      env: scratch.env,
      readyMs: 300,
    }).start(context(signal ?? AbortSignal.timeout(20_000)));
  const script = async (text: string) => {
    const file = join(scratch.root, 'program.sh');
    await writeFile(file, text);
    return { file: '/bin/sh', args: [file] };
  };
  const processes = () => findProcessesByEnv('JACKIN_INSTANCE', subject.instanceId);

  it('is an error with the tail of its log when it ends before it listens', async () => {
    const program = await script('seq 1 5000 >&2; echo "no such module" >&2; exit 3');
    const failure = await start(program).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'CAPSULE_START_FAILED',
      message: expect.stringMatching(/ended with code 3 before it was ready \(no such module\)$/),
    });
    const { log_tail: tail } = (failure as { details: { log_tail: string } }).details;
    expect(tail.length).toBeLessThanOrEqual(4096);
    expect(tail.endsWith('5000\nno such module')).toBe(true);
  });

  it('is an error naming the bound when it never listens, and nothing of it is left', async () => {
    await expect(start(await script('exec sleep 1000'))).rejects.toMatchObject({
      code: 'CAPSULE_START_FAILED',
      message: expect.stringContaining('did not listen within 300 ms'),
    });
    await expect(processes()).resolves.toEqual([]);
  });

  it('is an error naming the program when there is none', async () => {
    await expect(start({ file: '/nowhere/node', args: [] })).rejects.toMatchObject({
      code: 'CAPSULE_START_FAILED',
      message: expect.stringContaining('/nowhere/node'),
    });
  });

  it('ends it when the start is cancelled', async () => {
    const controller = new AbortController();
    const reason = new Error('operator cancelled');
    const starting = start(await script('exec sleep 1000'), controller.signal);
    controller.abort(reason);
    await expect(starting).rejects.toBe(reason);
    await expect(processes()).resolves.toEqual([]);
  });
});
