import { mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { classifyStartFailure } from '../../src/decide/start-failure.ts';
import { BRIDGE, CONTAINER_ID, IMAGE_ID, inspected, network, ROLE_LABELS } from './support/answers.ts';
import { type FakeEngine, startFakeEngine } from './support/fake-engine.ts';
import { freshSignal, newSubject, type Subject } from './support/subject.ts';

let engine: FakeEngine;
let subject: Subject;
beforeEach(async () => {
  engine = await startFakeEngine();
  const nothing = {
    listContainers: async () => [],
    listNetworks: async () => [],
    listImages: async () => [],
  };
  subject = await newSubject({ docker: nothing as never, env: engine.env, readyMs: 2_000 });
  await mkdir(subject.workdir, { recursive: true });
});
afterEach(async () => {
  await subject.dispose();
  await engine.close();
});

/** The engine has the instance's container, in this state. */
function has(state: Parameters<typeof inspected>[0] = {}): void {
  const labels = { ...ROLE_LABELS, 'jackin.instance': subject.id };
  const own = {
    Name: `${subject.base}-net`,
    Labels: { 'jackin.managed': 'true', 'jackin.role': subject.base },
  };
  engine.on('GET /networks', { body: [BRIDGE, network(own)] });
  engine.on('GET /containers/json', {
    body: [
      { Id: CONTAINER_ID, Names: [`/${subject.base}`], State: 'exited', ImageID: IMAGE_ID, Labels: labels },
    ],
  });
  const body = inspected(state, { Name: `/${subject.base}`, Config: { Labels: labels } });
  body.NetworkSettings = { Networks: { [own.Name]: { NetworkID: network().Id } } };
  engine.on(`GET /containers/${CONTAINER_ID}/json`, { body });
  engine.on(`POST /containers/${CONTAINER_ID}/attach`, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' });
    response.flushHeaders();
  });
}

const look = async () => {
  const inventory = await subject.backend.observe([subject.ref()], freshSignal());
  return { ...inventory, own: inventory.instances.get(subject.id) };
};

const refuseStart = (status: number, message: string) =>
  engine.on(`POST /containers/${CONTAINER_ID}/start`, { status, body: { message } });

describe('answers a real engine cannot be brought to give', () => {
  it('O39: a damaged root file system is told in the words the ladder knows, and nothing is removed', async () => {
    has();
    refuseStart(500, 'failed to mount local storage: failed to mount rootfs: no such file or directory');
    const started = subject.backend.start(subject.context());
    await expect(started).rejects.toMatchObject({ code: 'START_FAILED' });
    const { message } = await started.catch((error) => error);
    expect(classifyStartFailure(message)).toMatchObject({ kind: 'rootfs', falls_through: true });
    expect(engine.requests.filter((one) => /^(DELETE|POST .*(create|rename|kill))/.test(one))).toEqual([]);
  });

  it('O48, O56: a port without a visible owner has a name of its own, and no lower tier', async () => {
    has();
    refuseStart(500, 'driver failed: Bind for 0.0.0.0:8080 failed: port is already allocated');
    const { code, message } = await subject.backend.start(subject.context()).catch((error) => error);
    expect(code).toBe('PORT_CONFLICT');
    expect(classifyStartFailure(message)).toMatchObject({ kind: 'port', falls_through: false });
    expect(engine.requests.filter((one) => one.endsWith('/start'))).toHaveLength(1);
  });

  it('O40: code 0 of a container that was cut off is passed on as it is', async () => {
    has({ ExitCode: 0, FinishedAt: '2020-01-01T00:00:00Z' });
    expect((await look()).own?.container).toMatchObject({ state: 'stopped', exit_code: 0, error: null });
  });

  it('O42: a container with the OOM flag that runs is running', async () => {
    has({ Status: 'running', Running: true, OOMKilled: true });
    expect((await look()).own?.container).toMatchObject({ state: 'running', oom_flag: true });
  });

  it.each([
    ['an error', { status: 500, body: { message: 'busy' } }],
    ['another shape', { body: { containers: 'many' } }],
    ['an answer that is no list', { body: null }],
  ])(
    'an instance cannot be seen, and is not missing, when the list of containers is %s',
    async (_, answer) => {
      has();
      engine.on('GET /containers/json', answer);
      const { engine: fact, own } = await look();
      expect(fact.state).toBe('reachable');
      expect(own?.container).toMatchObject({ state: 'unreachable' });
    },
  );

  it('an instance whose inspection fails cannot be seen, and one that went meanwhile is missing', async () => {
    has();
    engine.on(`GET /containers/${CONTAINER_ID}/json`, { status: 500, body: { message: 'no' } });
    expect((await look()).own?.container).toMatchObject({ state: 'unreachable' });
    engine.on(`GET /containers/${CONTAINER_ID}/json`, { status: 404, body: { message: 'gone' } });
    expect((await look()).own?.container).toEqual({ state: 'missing' });
  });

  it('images, networks and volumes that could not be listed are unknown', async () => {
    has();
    for (const part of ['images/json', 'networks', 'volumes']) engine.on(`GET /${part}`, { status: 500 });
    subject.manifest = { ...subject.manifest, image_id: IMAGE_ID };
    const { engine: fact, own } = await look();
    expect(fact).toMatchObject({ state: 'reachable', run: null });
    expect(own?.network).toBe('unknown');
    expect(own?.image).toMatchObject({ by_id: { state: 'unknown' }, by_keep_tag: { state: 'unknown' } });
    expect(own?.container).toMatchObject({ state: 'stopped', startable: { ok: true } });
  });

  it('an engine that answers a ping and then nothing is unreachable within its bound', async () => {
    engine.on('GET /info', () => {});
    const startedMs = performance.now();
    expect((await look()).engine).toMatchObject({
      state: 'unreachable',
      reason: expect.stringContaining('5000 ms'),
    });
    expect(performance.now() - startedMs).toBeLessThan(9_000);
  });

  it('O52: nothing is done to an instance on another engine than its own', async () => {
    has();
    subject.manifest = {
      ...subject.manifest,
      engine: { endpoint: 'unix:///a.sock', id: 'another', run: null },
    };
    const { backend } = subject;
    const other = { code: 'OTHER_ENGINE', hint: expect.stringContaining('DOCKER_HOST=unix:///a.sock') };
    await expect(backend.create(subject.context())).rejects.toMatchObject(other);
    await expect(backend.start(subject.context())).rejects.toMatchObject(other);
    await expect(backend.stop(subject.ref(), 0, freshSignal())).rejects.toMatchObject(other);
    await expect(backend.remove(subject.ref(), 'container', freshSignal())).rejects.toMatchObject(other);
    await expect(backend.rename(subject.ref(), 'x', freshSignal())).rejects.toMatchObject(other);
    await expect(backend.pinImage(subject.ref(), IMAGE_ID, freshSignal())).rejects.toMatchObject(other);
    expect(engine.requests.filter((one) => !one.startsWith('GET '))).toEqual([]);
  });

  it('without an id on either side the endpoint says whose engine it is: Podman has another id at each call', async () => {
    has();
    const { engine: fact } = await look();
    let calls = 0;
    engine.on('GET /info', (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ID: `id ${++calls}`, BuildahVersion: '1.28.2' }));
    });
    engine.on(`DELETE /containers/${CONTAINER_ID}`, { status: 204 });
    const remove = () => subject.backend.remove(subject.ref(), 'container', freshSignal());
    for (const id of [null, 'an id of before']) {
      subject.manifest = { ...subject.manifest, engine: { endpoint: 'unix:///a.sock', id, run: null } };
      await expect(remove()).rejects.toMatchObject({ code: 'OTHER_ENGINE' });
      subject.manifest = { ...subject.manifest, engine: { endpoint: fact.endpoint, id, run: null } };
      expect(await remove()).toBe('removed');
    }
  });

  it('a removal that somebody else began is waited for', async () => {
    has();
    engine.on(`DELETE /containers/${CONTAINER_ID}`, {
      status: 409,
      body: { message: `removal of container ${CONTAINER_ID} is already in progress` },
    });
    engine.on(`POST /containers/${CONTAINER_ID}/wait`, { body: { StatusCode: 0 } });
    expect(await subject.backend.remove(subject.ref(), 'container', freshSignal())).toBe('removed');
    expect(engine.requests).toContain(`POST /containers/${CONTAINER_ID}/wait`);
  });
});
