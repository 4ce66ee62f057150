import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSilentSocket } from '../../../../tools/docker-lab/sockets.ts';
import { createConnector } from '../../src/docker/connect.ts';
import { type FakeEngine, startFakeEngine } from './support/fake-engine.ts';
import { freshSignal } from './support/subject.ts';

let home: string;
const cleanUp: (() => unknown)[] = [];
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'jk-con-')));
});
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
  await rm(home, { recursive: true, force: true });
});

async function fake(): Promise<FakeEngine> {
  const engine = await startFakeEngine();
  cleanUp.push(() => engine.close());
  return engine;
}

/** Puts an engine at a known place of this home; nothing is at /var/run or /run for this environment. */
async function at(place: string, engine: FakeEngine): Promise<string> {
  const path = join(home, place);
  await mkdir(dirname(path), { recursive: true });
  await symlink(engine.socket, path);
  return `unix://${path}`;
}

/** The machine's own engine, if it has one, must not answer for the ones of this home. */
const rejectedHere = (rejected: { endpoint: string; reason: string }[]) =>
  rejected.filter(({ endpoint }) => endpoint.includes(home));

describe('finding the engine', () => {
  it('asks every named place once and says why none of them is one', async () => {
    const silent = await openSilentSocket(home, 'silent.sock');
    cleanUp.push(() => silent.close());
    const cases: [host: string, reason: RegExp][] = [
      [`unix://${home}/nothing.sock`, /there is no socket \(ENOENT\)/],
      [`unix://${silent.socket}`, /did not answer within 2000 ms/],
      ['tcp://127.0.0.1:1', /nothing listens there \(ECONNREFUSED\)/],
      ['ssh://host', /ssh are not supported/],
    ];
    for (const [host, reason] of cases) {
      const startedMs = performance.now();
      const choice = await createConnector({ HOME: home, DOCKER_HOST: host }).choose(freshSignal());
      expect(choice).toMatchObject({ state: 'none', endpoint: host, reason: expect.stringMatching(reason) });
      expect(performance.now() - startedMs).toBeLessThan(6_000);
    }
  });

  it('calls a link to a socket that is gone what it is', async () => {
    await symlink(join(home, 'nobody.sock'), join(home, 'd.sock'));
    const choice = await createConnector({ HOME: home, DOCKER_HOST: `unix://${home}/d.sock` }).choose(
      freshSignal(),
    );
    expect(choice).toMatchObject({
      state: 'none',
      reason: expect.stringContaining(`it is a link to ${home}/nobody.sock, which is not there`),
    });
  });

  it('does not take a program that speaks something else for an engine', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    server.listen(join(home, 'other.sock'));
    await once(server, 'listening');
    cleanUp.push(() => server.close());
    const env = { HOME: home, DOCKER_HOST: `unix://${home}/other.sock` };
    expect(await createConnector(env).choose(freshSignal())).toMatchObject({ state: 'none' });
  });

  it('takes the first known place that answers and keeps the reasons of those before it', async () => {
    const [colima, rancher] = [await fake(), await fake()];
    await mkdir(join(home, '.orbstack/run'), { recursive: true });
    const silent = await openSilentSocket(join(home, '.orbstack/run'), 'docker.sock');
    cleanUp.push(() => silent.close());
    const expected = await at('.colima/default/docker.sock', colima);
    await at('.rd/docker.sock', rancher);
    const choice = await createConnector({ HOME: home }).choose(freshSignal());
    if (choice.state === 'chosen' && choice.engine.endpoint === 'unix:///var/run/docker.sock') return;
    expect(choice).toMatchObject({ state: 'chosen', source: 'Colima', engine: { endpoint: expected } });
    expect(rejectedHere(choice.rejected)).toEqual([
      expect.objectContaining({ source: 'Docker Desktop', reason: expect.stringContaining('ENOENT') }),
      expect.objectContaining({ source: 'OrbStack', reason: expect.stringContaining('did not answer') }),
    ]);
  });

  it('O52: takes no other engine for a named one that does not answer', async () => {
    const other = await fake();
    await at('.colima/default/docker.sock', other);
    const connector = createConnector({ HOME: home, DOCKER_HOST: `unix://${home}/gone.sock` });
    await expect(connector.engine(freshSignal())).rejects.toMatchObject({
      code: 'ENGINE_UNREACHABLE',
      message: expect.stringContaining('gone.sock'),
      details: { rejected: [expect.objectContaining({ source: 'DOCKER_HOST' })] },
    });
    expect(other.requests).toEqual([]);
  });

  it('keeps the chosen engine while it answers, and looks again when it does not', async () => {
    const first = await fake();
    const endpoint = join(home, 'd.sock');
    await symlink(first.socket, endpoint);
    const connector = createConnector({ HOME: home, DOCKER_HOST: `unix://${endpoint}` });
    const chosen = await connector.choose(freshSignal());
    expect(await connector.choose(freshSignal())).toBe(chosen);
    await rm(endpoint);
    expect(await connector.choose(freshSignal())).toMatchObject({ state: 'none' });
    await symlink(first.socket, endpoint);
    expect(await connector.choose(freshSignal())).toMatchObject({ state: 'chosen' });
  });

  it('asks a silent engine that was chosen before only once more', async () => {
    const engine = await fake();
    const connector = createConnector({ HOME: home, ...engine.env });
    await connector.choose(freshSignal());
    engine.on('GET /_ping', () => {});
    engine.requests.length = 0;
    const startedMs = performance.now();
    expect(await connector.choose(freshSignal())).toMatchObject({ state: 'none' });
    expect(performance.now() - startedMs).toBeLessThan(3_500);
    expect(engine.requests).toEqual(['GET /_ping']);
  });

  it('names an engine that answers with an error', async () => {
    const engine = await fake();
    engine.on('GET /_ping', { status: 500, body: { message: 'disk on fire' } });
    const choice = await createConnector({ HOME: home, ...engine.env }).choose(freshSignal());
    expect(choice).toMatchObject({ state: 'none', reason: expect.stringContaining('disk on fire') });
  });

  it('ends with the reason of its signal', async () => {
    const engine = await fake();
    engine.on('GET /_ping', () => {});
    const reason = new Error('enough');
    const controller = new AbortController();
    const choosing = createConnector({ HOME: home, ...engine.env }).choose(controller.signal);
    controller.abort(reason);
    await expect(choosing).rejects.toBe(reason);
  });
});
