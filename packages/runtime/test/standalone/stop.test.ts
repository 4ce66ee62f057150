import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { identifyProcess } from '@jackin/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InstanceRef } from '../../src/backend.ts';
import { newSubject, type Subject } from '../execute/support/plans.ts';
import { createScratch, killInstance, type Scratch } from '../execute/support/scratch.ts';

const ENDLESS = 'while :; do sleep 1000 & wait; done';

describe('ending the processes of a standalone instance', () => {
  let scratch: Scratch;
  let subject: Subject;

  beforeEach(async () => {
    scratch = await createScratch();
    subject = newSubject(scratch.workdir);
  });
  afterEach(async () => {
    await killInstance(subject.instanceId);
    await scratch.dispose();
  });

  /** A process of the instance that says when it is up. */
  const leftover = async (text: string, instanceId = subject.instanceId): Promise<ChildProcess> => {
    const child = spawn('/bin/sh', ['-c', text], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, JACKIN_INSTANCE: instanceId },
    });
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return child;
  };
  const ref = (manifest = subject.manifest): InstanceRef => ({
    instance_id: subject.instanceId,
    container_base: subject.base,
    manifest,
  });
  const signal = () => AbortSignal.timeout(20_000);

  it('lists what outlived the capsule, and leaves no part of it', async () => {
    const child = await leftover(`echo up; ${ENDLESS}`);
    const inventory = await scratch.backend.observe([ref()], signal());
    expect(inventory.instances.get(subject.instanceId)?.leftover_pids).toContain(child.pid);

    await expect(scratch.backend.endLeftovers(ref(), signal())).resolves.toContain(child.pid);
    const after = await scratch.backend.observe([ref()], signal());
    expect(after.instances.get(subject.instanceId)?.leftover_pids).toEqual([]);
    await expect(scratch.backend.endLeftovers(ref(), signal())).resolves.toEqual([]);
  });

  it('ends also what ignores the polite signals', async () => {
    const child = await leftover(`trap '' TERM HUP; echo up; ${ENDLESS}`);
    await scratch.backend.endLeftovers(ref(), signal());
    expect(child.signalCode ?? (await once(child, 'exit'))[1]).toBe('SIGKILL');
  });

  it('refuses to remove an instance while something of it runs', async () => {
    const child = await leftover(`echo up; ${ENDLESS}`);
    await expect(scratch.backend.remove(ref(), 'container', signal())).rejects.toMatchObject({
      code: 'CONTAINER_RUNNING',
      details: { pids: expect.arrayContaining([child.pid]) },
    });
  });

  it('ends nothing of another instance', async () => {
    const other = newSubject(scratch.workdir);
    const child = await leftover(`echo up; ${ENDLESS}`, other.instanceId);
    await scratch.backend.stop(ref(), 0, signal());
    expect(child.exitCode ?? child.signalCode).toBeNull();
    await killInstance(other.instanceId);
  });

  it('kills a recorded capsule that ignores SIGTERM after the grace time', async () => {
    const child = await leftover(`trap '' TERM HUP; echo up; ${ENDLESS}`);
    const identity = await identifyProcess(child.pid as number);
    if (identity === null) throw new Error('the process has gone');
    const recorded = ref({ ...subject.manifest, backend: { standalone: { ...identity } } });
    await scratch.backend.stop(recorded, 50, signal());
    expect(child.signalCode ?? (await once(child, 'exit'))[1]).toBe('SIGKILL');
    const sent = scratch.events.filter((event) => event.type === 'debug').map(({ message }) => message);
    expect(sent.slice(0, 2)).toEqual([
      `SIGTERM to a process of ${subject.base}`,
      `SIGKILL to a process of ${subject.base}`,
    ]);
  });
});
