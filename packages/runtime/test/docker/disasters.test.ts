import { expect, it, jest } from '@jest/globals';
import { startLab } from '../../../../tools/docker-lab/index.ts';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { createDockerBackend } from '../../src/docker/adapter.ts';
import { inside, onEngine, seen, traces } from './support/on-engine.ts';
import { freshSignal, newSubject, type Subject } from './support/subject.ts';

jest.setTimeout(300_000);

await describeOnEngine('disaster', 'an engine that comes to harm', (lab) => {
  const { subject: make, cleanUp } = onEngine(lab);

  const runOf = async (subject: Subject) => {
    const { engine } = await seen(subject);
    return engine.state === 'reachable' ? engine.run : null;
  };

  it.each([
    ['O35, O41: a power cut', () => lab().powerCut(), 255],
    ['O41: a crash of the engine', () => lab().engineCrash(), null],
    ['O40: an orderly stop of the engine', () => lab().engineStop(), null],
  ])('%s changes the run and leaves the container to be started again', async (_, strike, code) => {
    const subject = await make();
    await subject.launch();
    await inside(lab().docker, subject.base, ['sh', '-c', 'echo installed > /opt/marker']);
    const before = await runOf(subject);
    expect(before).toBe(subject.manifest.engine?.run);
    await strike();
    const down = await seen(subject);
    expect(down.engine).toMatchObject({ state: 'unreachable', endpoint: lab().env.DOCKER_HOST });
    expect(down.container.state).toBe('unreachable');
    await expect(subject.backend.start(subject.context())).rejects.toMatchObject({
      code: 'ENGINE_UNREACHABLE',
    });
    await lab().start();
    const up = await seen(subject);
    expect(await runOf(subject)).not.toBe(before);
    expect(up.container).toMatchObject({ state: 'stopped', startable: { ok: true } });
    if (code !== null) expect(up.container).toMatchObject({ exit_code: code });
    // O53: the same object works again, and what was in the layer is there.
    subject.record(await subject.backend.start(subject.context()));
    expect(await inside(lab().docker, subject.base, ['cat', '/opt/marker'])).toBe('installed\n');
    expect(await runOf(subject)).toBe(subject.manifest.engine?.run);
    (await subject.connect()).close();
  });

  it('O52: another engine does not know the instance, and nothing is done there', async () => {
    const subject = await make();
    await subject.launch();
    const second = await lab().secondEngine();
    const there = createDockerBackend({ ...subject.options, env: { HOME: subject.root, ...second.env } });
    const { engine, instances } = await there.observe([subject.ref()], freshSignal());
    expect(engine).toMatchObject({ state: 'reachable', endpoint: second.env.DOCKER_HOST });
    expect(engine.state === 'reachable' && engine.id).not.toBe(subject.manifest.engine?.id);
    expect(instances.get(subject.id)?.container).toEqual({ state: 'missing' });
    for (const act of [
      () => there.create(subject.context()),
      () => there.remove(subject.ref(), 'container', freshSignal()),
      () => there.stop(subject.ref(), 0, freshSignal()),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 'OTHER_ENGINE' });
    }
    expect(await second.docker.listContainers({ all: true })).toEqual([]);
    expect((await seen(subject)).container.state).toBe('running');
  });

  it('O46: used-up addresses have a name, with the number of our unused networks, and nothing is removed', async () => {
    const small = await startLab({ networks: 4 });
    cleanUp(() => small.dispose());
    const { docker, env } = small;
    const subject = await newSubject({ docker, env });
    cleanUp(() => subject.dispose());
    const ours = 'jk-zzzzzzzz-shell';
    await docker.createNetwork({
      Name: `${ours}-net`,
      Labels: { 'jackin.managed': 'true', 'jackin.role': ours },
    });
    let full = false;
    for (let at = 0; !full; at++) {
      full = await docker.createNetwork({ Name: `theirs-${at}` }).then(
        () => false,
        () => true,
      );
    }
    const before = (await docker.listNetworks()).map(({ Id }) => Id).sort();
    await subject.prepare();
    await expect(subject.backend.create(subject.context())).rejects.toMatchObject({
      code: 'ADDRESS_POOLS_EXHAUSTED',
      message: expect.stringContaining("1 of jackin's networks"),
      details: { unused_networks: 1, networks: [`${ours}-net`] },
    });
    expect((await docker.listNetworks()).map(({ Id }) => Id).sort()).toEqual(before);
    expect(await traces(docker, subject)).toEqual([]);
    await docker.getNetwork('theirs-0').remove();
    expect((await subject.backend.create(subject.context())).created).toHaveLength(2);
  });
});
