import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DockerLab } from '../../../../tools/docker-lab/index.ts';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { snapshot } from '../e2e/support/evidence.ts';
import type { CliResult } from '../e2e/support/sandbox.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { ALL, seenInside, writeAll } from './support/files.ts';

const MINUTES = 60_000;
const STATUS_MS = 3_000;
/** What `jackin --version` takes where nothing else runs. A busy machine gets more time, by as much as it is slower. */
const VERSION_MS = 200;

await describeOnEngine('disaster', 'an engine that cannot be asked', (lab) => {
  let sandbox: EngineSandbox;
  let instance: Instance;
  let other: DockerLab;

  beforeAll(async () => {
    sandbox = createEngineSandbox(lab());
    instance = await sandbox.load(['sh', '-c', 'while :; do sleep 1; done']);
    await writeAll(sandbox, instance);
    other = await lab().secondEngine();
    expect(await sandbox.status(instance)).toMatchObject({ status: 'running', cause: null });
  }, 5 * MINUTES);
  afterAll(() => sandbox.dispose(), 2 * MINUTES);

  const host = (path: string) => ({ DOCKER_HOST: `unix://${path}` });

  /** What `status` and `resume` say in `env`, after which every byte is as it was. */
  async function asked(env: Record<string, string>) {
    const before = snapshot(sandbox.state);
    const versionMs = (await timed(['--version'], env)).elapsedMs;
    const { result, elapsedMs } = await timed(['status', '--json'], env);
    expect(elapsedMs).toBeLessThan(STATUS_MS * Math.max(1, versionMs / VERSION_MS));
    expect(result.code).toBe(0);
    const { engine, instances } = result.json().data;
    const resumed = await sandbox.jackin(['resume', instance.id, '--detach', '--json'], { env });
    const words = await sandbox.jackin(['status'], { env });
    expect(snapshot(sandbox.state)).toEqual(before);
    return {
      engine: engine.find(({ endpoint }: { endpoint: string }) => endpoint.startsWith('unix://')),
      row: instances[0],
      resumed: { code: resumed.code, error: resumed.json().error },
      words: words.stdout,
    };
  }

  async function timed(args: string[], env: Record<string, string>) {
    const started = performance.now();
    const result: CliResult = await sandbox.jackin(args, { env });
    return { result, elapsedMs: performance.now() - started };
  }

  async function expectBack(expected: { tier: number; status: string }): Promise<void> {
    expect(await sandbox.status(instance)).toMatchObject({ status: expected.status });
    const { code, json } = await sandbox.jackin(['resume', instance.id, '--detach', '--json']);
    expect([code, json().data]).toMatchObject([0, { tier: expected.tier, status: 'running' }]);
    expect(await seenInside(sandbox, instance)).toEqual(ALL);
  }

  /** An engine that does not answer, for `reason`. */
  async function expectUnreachable(socket: string, reason: RegExp): Promise<void> {
    const { engine, row, resumed, words } = await asked(host(socket));
    expect(engine).toMatchObject({ endpoint: `unix://${socket}`, state: 'unreachable', run: null });
    expect(engine.reason).toMatch(reason);
    expect(row).toMatchObject({
      status: 'running',
      cause: null,
      container: 'engine unreachable',
      agent_alive: 'unknown',
    });
    expect(row.evidence[0]).toContain(`engine unreachable: unix://${socket}: ${engine.reason}`);
    expect(words).toContain('engine unreachable');
    expect(resumed).toMatchObject({ code: 1, error: { code: 'ENGINE_UNREACHABLE' } });
    expect(resumed.error.message).toContain(`(unix://${socket}) does not answer: ${engine.reason}`);
  }

  describe('status says so within three seconds, resume fails with the same words, and both work again', () => {
    test(
      'a socket link that leads nowhere is an engine that does not answer',
      async () => {
        await expectUnreachable(
          await lab().danglingSocket(),
          /it is a link to .*nobody\.sock, which is not there/,
        );
        await expectBack({ tier: 0, status: 'running' });
      },
      2 * MINUTES,
    );

    test(
      'a socket that accepts and never answers is an engine that does not answer',
      async () => {
        const silent = await lab().silentSocket();
        await expectUnreachable(silent.socket, /did not answer within \d+ ms/);
        await silent.close();
        await expectUnreachable(silent.socket, /there is no socket|nothing listens there/);
        await expectBack({ tier: 0, status: 'running' });
      },
      2 * MINUTES,
    );

    test(
      'another engine is not the one the instance lives on',
      async () => {
        const { engine, row, resumed, words } = await asked(other.env);
        expect(engine).toMatchObject({ endpoint: other.env.DOCKER_HOST, state: 'reachable' });
        expect(row).toMatchObject({ status: 'running', cause: null, container: 'other engine' });
        const [home, here] = [lab().env.DOCKER_HOST, other.env.DOCKER_HOST];
        expect(row.evidence[0]).toBe(`other engine: made on ${home}, not on ${here}`);
        expect(words).toContain('other engine');
        expect(resumed).toMatchObject({
          code: 1,
          error: {
            code: 'OTHER_ENGINE',
            message: `${instance.base} lives on ${home}, but ${here} answered`,
            hint: expect.stringContaining(`DOCKER_HOST=${home}`),
          },
        });
        expect(await other.docker.listContainers({ all: true })).toEqual([]);
        await expectBack({ tier: 0, status: 'running' });
      },
      2 * MINUTES,
    );

    test(
      'O52: after a switch to another docker context nothing counts as gone, and nothing is removed',
      async () => {
        const env = { DOCKER_HOST: '' };
        context('here', lab().env.DOCKER_HOST);
        context('there', other.env.DOCKER_HOST);
        useContext('there');
        const { row, resumed } = await asked(env);
        expect(row).toMatchObject({ status: 'running', container: 'other engine' });
        expect(resumed.error.code).toBe('OTHER_ENGINE');
        // Of a command that changes something the lock is taken.
        const records = () => snapshot(sandbox.state).filter((line) => !/\.lock|locks\.db/.test(line));
        const before = records();
        for (const verb of ['purge', 'eject', 'stop']) {
          const args = [verb, instance.id, ...(verb === 'purge' ? ['--yes', '--force'] : []), '--json'];
          const { code, json } = await sandbox.jackin(args, { env });
          expect({ verb, code, error: json().error.code }).toEqual({ verb, code: 1, error: 'OTHER_ENGINE' });
        }
        const exile = await sandbox.jackin(['exile', '--yes', '--json'], { env });
        expect([exile.code, exile.json().data]).toMatchObject([
          1,
          { ejected: [], failed: [{ instance_id: instance.id, error: { code: 'OTHER_ENGINE' } }] },
        ]);
        expect(records()).toEqual(before);
        expect((await sandbox.container(instance).inspect()).State.Running).toBe(true);
        useContext('here');
        expect(
          (await sandbox.jackin(['status', instance.id, '--json'], { env })).json().data.instances[0],
        ).toMatchObject({
          status: 'running',
          container: 'running',
        });
      },
      2 * MINUTES,
    );

    test(
      'O36: a session without its container and its socket file is asked of the engine, and started',
      async () => {
        const { Id: id } = await sandbox.container(instance).inspect();
        await sandbox.container(instance).stop();
        rmSync(join(sandbox.state, 'sockets', instance.base, 'capsule.sock'), { force: true });
        await expectBack({ tier: 1, status: 'stopped' });
        expect((await sandbox.container(instance).inspect()).Id).toBe(id);
      },
      2 * MINUTES,
    );

    test(
      'O53: an engine that is stopped at resume changes nothing, and the next resume works',
      async () => {
        await lab().engineStop();
        await expectUnreachable(lab().socket, /there is no socket|nothing listens there/);
        await lab().start();
        await expectBack({ tier: 1, status: 'host_lost' });
      },
      4 * MINUTES,
    );
  });

  function context(name: string, endpoint: string): void {
    const id = createHash('sha256').update(name).digest('hex');
    const dir = join(sandbox.home, '.docker/contexts/meta', id);
    mkdirSync(dir, { recursive: true });
    const meta = { Name: name, Endpoints: { docker: { Host: endpoint, SkipTLSVerify: false } } };
    writeFileSync(join(dir, 'meta.json'), JSON.stringify(meta));
  }

  function useContext(name: string): void {
    writeFileSync(join(sandbox.home, '.docker/config.json'), JSON.stringify({ currentContext: name }));
  }
});
