import { once } from 'node:events';
import { newInstanceId } from '@jackin/core';
import { expect, it, jest } from '@jest/globals';
import { startCountingProxy } from '../../../../tools/docker-lab/counting-proxy.ts';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { createDockerBackend } from '../../src/docker/adapter.ts';
import { onEngine, seen } from './support/on-engine.ts';
import { BASE_IMAGE, freshSignal, type Subject } from './support/subject.ts';

jest.setTimeout(120_000);

await describeOnEngine('harmless', 'looking at an engine', (engine) => {
  const { subject: make, cleanUp } = onEngine(engine);

  /** Refs with a stopped container each, made cheaply. */
  async function many(subject: Subject, count: number) {
    const { docker } = engine();
    const refs = Array.from({ length: count }, () => {
      const id = newInstanceId();
      const base = `jk-${id}-shell`;
      const manifest = {
        ...subject.manifest,
        instance_id: id,
        container_base: base,
        docker: { role_container: base, network: `${base}-net` },
      };
      return { instance_id: id, container_base: base, manifest };
    });
    for (const { instance_id: id, container_base: base } of refs) {
      const Labels = { 'jackin.managed': 'true', 'jackin.kind': 'role', 'jackin.instance': id };
      const made = await docker.createContainer({ name: base, Image: BASE_IMAGE, Cmd: ['true'], Labels });
      cleanUp(() => made.remove({ force: true }));
    }
    return refs;
  }

  it('asks for one list of each kind, with 1 and with 50 instances', async () => {
    const proxy = await startCountingProxy(engine().socket);
    cleanUp(() => proxy.close());
    const subject = await make();
    const backend = createDockerBackend({ ...subject.options, env: { HOME: subject.root, ...proxy.env } });
    const refs = await many(subject, 50);
    for (const count of [1, 50]) {
      proxy.requests.length = 0;
      const { instances } = await backend.observe(refs.slice(0, count), freshSignal());
      expect([...instances.values()].map(({ container }) => container.state)).toEqual(
        Array.from({ length: count }, () => 'stopped'),
      );
      const lists = proxy.requests
        .filter((one) => !/^GET \/containers\/[0-9a-f]{64}\/json$/.test(one))
        .sort();
      expect(lists).toEqual([
        'GET /_ping',
        'GET /containers/json',
        'GET /images/json',
        'GET /info',
        'GET /networks',
        'GET /volumes',
      ]);
      expect(proxy.requests).toHaveLength(lists.length + count);
    }
  });

  it('knows a container by its labels under whatever name somebody gave it', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    await docker.getContainer(subject.base).rename({ name: `theirs-${subject.id}` });
    expect((await seen(subject)).container).toMatchObject({ state: 'running', name: `theirs-${subject.id}` });
    (await subject.connect()).close();
    await subject.backend.stop(subject.ref(), 5_000, freshSignal());
    expect(await subject.backend.remove(subject.ref(), 'container', freshSignal())).toBe('removed');
  });

  it('O36, O49: tells a kill, a stop, a removal and an unused container apart', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.prepare();
    await subject.backend.create(subject.context());
    expect((await seen(subject)).container).toMatchObject({ state: 'stopped', exit_code: null });
    const container = docker.getContainer(subject.base);
    await subject.backend.start(subject.context());
    await container.kill();
    await container.wait();
    expect((await seen(subject)).container).toMatchObject({
      state: 'stopped',
      exit_code: 137,
      oom_flag: false,
    });
    await subject.backend.start(subject.context());
    await container.stop();
    expect((await seen(subject)).container).toMatchObject({ state: 'stopped', exit_code: 143 });
    await container.remove();
    expect((await seen(subject)).container).toEqual({ state: 'missing' });
  });

  it('stops a paused container in good order', async () => {
    const { docker } = engine();
    const subject = await make();
    await subject.launch();
    await docker.getContainer(subject.base).pause();
    expect((await seen(subject)).container.state).toBe('running');
    await subject.backend.stop(subject.ref(), 5_000, freshSignal());
    expect((await seen(subject)).container).toMatchObject({ state: 'stopped', exit_code: 143 });
  });

  it('kills what does not end within its grace time', async () => {
    const { docker } = engine();
    const subject = await make();
    const Labels = { 'jackin.managed': 'true', 'jackin.kind': 'role', 'jackin.instance': subject.id };
    const deaf = await docker.createContainer({
      name: subject.base,
      Image: BASE_IMAGE,
      Cmd: ['sh', '-c', 'trap "" TERM; echo deaf; while :; do sleep 1; done'],
      Labels,
    });
    const output = await deaf.attach({ stream: true, stdout: true });
    await deaf.start();
    await once(output, 'data');
    await subject.backend.stop(subject.ref(), 500, freshSignal());
    expect((await seen(subject)).container).toMatchObject({ state: 'stopped', exit_code: 137 });
  });

  it('lists what is ours and belongs to nobody it was asked about', async () => {
    const subject = await make();
    await subject.prepare();
    await subject.backend.create(subject.context());
    const { orphans } = await subject.backend.observe([], freshSignal());
    const own = orphans.filter(({ instance_id: id }) => id === subject.id);
    expect(own).toEqual([
      { kind: 'container', name: subject.base, instance_id: subject.id },
      { kind: 'network', name: `${subject.base}-net`, instance_id: subject.id },
    ]);
    const asked = await seen(subject);
    expect(asked.orphans.filter(({ instance_id: id }) => id === subject.id)).toEqual([]);
  });

  it('tells the engine, its run and its boot', async () => {
    const { docker, env } = engine();
    const subject = await make();
    const { engine: fact } = await seen(subject);
    const bridge = await docker.getNetwork('bridge').inspect();
    expect(fact).toEqual({
      state: 'reachable',
      endpoint: env.DOCKER_HOST,
      id: (await docker.info()).ID,
      run: `${bridge.Id}@${bridge.Created}`,
      boot_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('doctor finds nothing wrong with it', async () => {
    const subject = await make();
    const findings = await subject.backend.doctor(freshSignal());
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(findings[0]).toMatchObject({
      check: 'docker.endpoint',
      message: expect.stringContaining('DOCKER_HOST'),
    });
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['docker.engine', 'docker.cgroup', 'docker.run']),
    );
  });
});
