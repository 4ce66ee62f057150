import { constants, copyFile, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { inside, onEngine, seen } from './support/on-engine.ts';
import { testRuntime } from './support/runtime.ts';
import { freshSignal, type Subject } from './support/subject.ts';

jest.setTimeout(120_000);

await describeOnEngine('harmless', 'starting on an engine', (engine) => {
  const { subject: make } = onEngine(engine);
  const stop = (subject: Subject) => subject.backend.stop(subject.ref(), 5_000, freshSignal());

  /** A runtime of its own, with another program for the capsule if wanted. */
  async function ownRuntime(dir: string, capsule?: string): Promise<{ dir: string; digest: string }> {
    const { dir: from } = await testRuntime();
    await mkdir(dir, { recursive: true });
    await copyFile(join(from, 'node'), join(dir, 'node'), constants.COPYFILE_FICLONE);
    if (capsule !== undefined) await writeFile(join(dir, 'capsule.mjs'), capsule);
    return { dir, digest: `test-${dir}` };
  }

  it('O34, O36, O50: a stopped container is started again, with everything in its layer', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    const before = await docker.getContainer(subject.base).inspect();
    expect(await subject.backend.changedPaths(subject.ref(), freshSignal())).toEqual([]);
    await inside(docker, subject.base, ['sh', '-c', 'echo installed > /opt/marker']);
    await stop(subject);
    expect((await seen(subject)).container).toMatchObject({ state: 'stopped', startable: { ok: true } });
    expect(await subject.backend.changedPaths(subject.ref(), freshSignal())).toEqual(['/opt', '/opt/marker']);
    expect((await subject.backend.create(subject.context())).created).toEqual([]);
    subject.record(await subject.backend.start(subject.context()));
    expect((await docker.getContainer(subject.base).inspect()).Id).toBe(before.Id);
    expect(await inside(docker, subject.base, ['cat', '/opt/marker'])).toBe('installed\n');
    (await subject.connect()).close();
  });

  it('O43: a network that was pruned while it was stopped is made again and connected', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    await stop(subject);
    await docker.getNetwork(`${subject.base}-net`).remove();
    expect(await seen(subject)).toMatchObject({
      network: 'missing',
      container: { state: 'stopped', startable: { ok: true } },
    });
    for (let round = 0; round < 2; round++) {
      await subject.backend.start(subject.context());
      (await subject.connect()).close();
      const network = await docker.getNetwork(`${subject.base}-net`).inspect();
      expect(Object.keys(network.Containers ?? {})).toHaveLength(1);
      expect(network.Labels).toMatchObject({ 'jackin.role': subject.base });
      await stop(subject);
    }
  });

  it('O43: it is connected to a network of ours that was made again by somebody else', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    await stop(subject);
    await docker.getNetwork(`${subject.base}-net`).remove();
    const labels = { 'jackin.managed': 'true', 'jackin.role': subject.base };
    await docker.createNetwork({ Name: `${subject.base}-net`, Labels: labels });
    await subject.backend.start(subject.context());
    (await subject.connect()).close();
  });

  it('O43: it does not join a foreign network that took the name', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    await stop(subject);
    await docker.getNetwork(`${subject.base}-net`).remove();
    await docker.createNetwork({ Name: `${subject.base}-net` });
    expect((await seen(subject)).container).toMatchObject({
      startable: { ok: false, reason: expect.stringContaining("not jackin's") },
    });
    await expect(subject.backend.start(subject.context())).rejects.toMatchObject({
      code: 'NAME_TAKEN_BY_FOREIGN',
    });
  });

  it('names a mount source that is gone, and starts once it is back', async () => {
    const subject = await make();
    await subject.launch();
    await stop(subject);
    await rename(subject.workdir, `${subject.workdir}.away`);
    expect((await seen(subject)).container).toMatchObject({
      startable: { ok: false, reason: `${subject.workdir} cannot be used: it is gone` },
    });
    await expect(subject.backend.start(subject.context())).rejects.toMatchObject({
      code: 'MOUNT_SOURCE_MISSING',
      message: expect.stringContaining('bind source path does not exist'),
      details: { path: subject.workdir },
    });
    await rename(`${subject.workdir}.away`, subject.workdir);
    await subject.backend.start(subject.context());
    (await subject.connect()).close();
  });

  it('makes the runtime files again when they are gone', async () => {
    const { dir } = await testRuntime();
    let own = '';
    const subject = await make({
      runtime: async () => {
        const made = await ownRuntime(own);
        for (const part of ['capsule.mjs', 'node_modules/@lydell/node-pty-linux-x64/pty.node']) {
          await mkdir(join(own, part, '..'), { recursive: true });
          await copyFile(join(dir, part), join(own, part));
        }
        return made;
      },
    });
    own = join(subject.root, 'runtime');
    await subject.launch();
    await stop(subject);
    await rm(own, { recursive: true });
    await subject.backend.start(subject.context());
    (await subject.connect()).close();
    expect((await lstat(join(own, 'node'))).isFile()).toBe(true);
  });

  it('says why a capsule cannot start, leaves nothing running, and works once that is mended', async () => {
    const subject = await make();
    await subject.prepare();
    await subject.backend.create(subject.context());
    const good = join(subject.root, 'agent.toml');
    await rename(subject.place.agentConfig, good);
    await writeFile(subject.place.agentConfig, 'not = [toml');
    const failed = subject.backend.start(subject.context());
    await expect(failed).rejects.toMatchObject({
      code: 'CAPSULE_START_FAILED',
      message: expect.stringContaining('before it listened'),
      details: { log_tail: expect.stringContaining('agent.toml') },
    });
    expect((await seen(subject)).container.state).toBe('stopped');
    await rename(good, subject.place.agentConfig);
    await subject.backend.start(subject.context());
    (await subject.connect()).close();
  });

  it('does not wait for ever for a capsule that never listens, and stops it', async () => {
    let own = '';
    const subject = await make({
      readyMs: 2_000,
      runtime: () => ownRuntime(own, 'console.error("thinking"); setInterval(() => {}, 1000);'),
    });
    own = join(subject.root, 'runtime');
    await subject.prepare();
    await subject.backend.create(subject.context());
    await expect(subject.backend.start(subject.context())).rejects.toMatchObject({
      code: 'CAPSULE_START_FAILED',
      message: expect.stringContaining('did not listen within 2000 ms'),
    });
    expect((await seen(subject)).container.state).toBe('stopped');
  });

  it('leaves nothing running when it is cancelled half way', async () => {
    const { docker } = engine();
    let own = '';
    const subject = await make({ runtime: () => ownRuntime(own, 'setInterval(() => {}, 1000);') });
    own = join(subject.root, 'runtime');
    await subject.prepare();
    await subject.backend.create(subject.context());
    const events = await docker.getEvents({ filters: { container: [subject.base], event: ['start'] } });
    const started = new Promise((resolve) => events.once('data', resolve));
    const controller = new AbortController();
    const starting = subject.backend.start(subject.context(controller.signal));
    const outcome = expect(starting).rejects.toThrow('enough');
    await started;
    controller.abort(new Error('enough'));
    await outcome;
    (events as unknown as { destroy(): void }).destroy();
    expect((await docker.getContainer(subject.base).inspect()).State.Running).toBe(false);
  });

  it('waits for a capsule that somebody else has just started', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.prepare();
    await subject.backend.create(subject.context());
    await docker.getContainer(subject.base).start();
    await subject.backend.start(subject.context());
    (await subject.connect()).close();
  });

  it('has nothing to start without a container', async () => {
    const subject = await make();
    await expect(subject.backend.start(subject.context())).rejects.toMatchObject({
      code: 'CONTAINER_MISSING',
    });
  });
});
