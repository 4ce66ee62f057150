import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { atTerminal } from '../e2e/support/attached.ts';
import { isAlive } from '../e2e/support/evidence.ts';
import { eventually } from '../e2e/support/sandbox.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { fakeRole } from './support/fake-role.ts';
import { ALL, kept, seenInside, writeAll } from './support/files.ts';

const MINUTES = 60_000;
const LIMIT = 2 * MINUTES;
const FOREIGN = { Image: 'debian:bookworm-slim', Cmd: ['sleep', 'infinity'] };
/** Says when it is there. Two words that are joined by the shell, so that its command line does not say it. */
const WORKING = ['sh', '-c', 'echo "agent"-ready; while :; do sleep 1; done'];

await describeOnEngine('disaster', 'the tiers of a restore on an engine', (lab) => {
  let sandbox: EngineSandbox;
  let salts = 0;

  beforeAll(() => {
    sandbox = createEngineSandbox(lab());
  });
  afterAll(() => sandbox.dispose(), LIMIT);

  async function working(extra: string[] = []): Promise<Instance> {
    const instance = await sandbox.load(WORKING, extra);
    await writeAll(sandbox, instance);
    return instance;
  }

  /** One whose image no other session has. */
  async function ofOwnImage(): Promise<Instance> {
    salts += 1;
    sandbox.writeConfig(fakeRole(sandbox, `image ${salts}`));
    const instance = await sandbox.load(WORKING, [], { role: 'fakes' });
    await writeAll(sandbox, instance);
    return instance;
  }

  async function resume({ id }: Instance, ...flags: string[]) {
    const { code, json, stderr } = await sandbox.jackin(['resume', id, '--detach', '--json', ...flags], {
      timeoutMs: LIMIT,
    });
    return { code, data: json().data, error: json().error, stderr };
  }

  const inspect = (instance: Instance) => sandbox.container(instance).inspect();
  const namesOnEngine = async () =>
    (await lab().docker.listContainers({ all: true })).flatMap(({ Names }) => Names.map((n) => n.slice(1)));

  async function agentPid(instance: Instance): Promise<number> {
    const { Titles: titles, Processes: processes } = await sandbox.container(instance).top();
    const row = (processes as string[][]).find((one) => one.join(' ').includes('"agent"-ready'));
    return Number(row?.[(titles as string[]).indexOf('PID')]);
  }

  describe('tier 0', () => {
    test(
      'a session that runs is reconnected, and nothing of it changes',
      async () => {
        const instance = await working();
        const [{ Id: id, State: before }, agent] = [await inspect(instance), await agentPid(instance)];
        expect(await resume(instance)).toMatchObject({
          code: 0,
          data: { tier: 0, status: 'running', cause: null, did_not_return: [] },
        });
        const { Id, State } = await inspect(instance);
        expect([Id, State.StartedAt, await agentPid(instance)]).toEqual([id, before.StartedAt, agent]);
        expect(isAlive(agent)).toBe(true);
      },
      LIMIT,
    );

    test(
      'O49: a container whose agent is dead gets its agent back in place',
      async () => {
        const instance = await working();
        const [{ Id: id, State: before }, agent] = [await inspect(instance), await agentPid(instance)];
        // An attached client that does not react holds the supervisor while its agent is gone.
        const terminal = atTerminal(sandbox, ['hardline', instance.id], sandbox.env);
        try {
          await terminal.waitFor('agent-ready', 60_000);
          process.kill(terminal.jackinPid(), 'SIGSTOP');
          process.kill(agent, 'SIGKILL');
          await eventually('the supervisor saw it end', async () => {
            const { agent_alive: alive, container } = await sandbox.status(instance);
            return alive === 'no' && container === 'running';
          });
          expect(await resume(instance)).toMatchObject({
            code: 0,
            data: { tier: 0, status: 'running', did_not_return: ['agent_process'] },
          });
          const next = await agentPid(instance);
          expect([next === agent, isAlive(next)]).toEqual([false, true]);
          const { Id, State } = await inspect(instance);
          expect([Id, State.StartedAt]).toEqual([id, before.StartedAt]);
          expect(await seenInside(sandbox, instance)).toEqual(ALL);
        } finally {
          process.kill(terminal.jackinPid(), 'SIGCONT');
          terminal.close();
        }
      },
      LIMIT,
    );
  });

  describe('tier 1', () => {
    test(
      'a socket directory and an agent.toml that are missing are made again before the start',
      async () => {
        const instance = await working();
        const { Id: id } = await inspect(instance);
        await sandbox.container(instance).stop();
        const config = join(sandbox.state, 'data', instance.base, '.jackin/agent.toml');
        const sockets = join(sandbox.state, 'sockets', instance.base);
        rmSync(config);
        rmSync(sockets, { recursive: true });
        expect(await resume(instance)).toMatchObject({ code: 0, data: { tier: 1, status: 'running' } });
        expect([existsSync(config), existsSync(sockets)]).toEqual([true, true]);
        expect(await seenInside(sandbox, instance)).toEqual(ALL);
        expect((await inspect(instance)).Id).toBe(id);
      },
      LIMIT,
    );

    test(
      'O43: a network that was pruned while it was stopped is made again, and the layer comes back',
      async () => {
        const instance = await working();
        const { Id: id } = await inspect(instance);
        await sandbox.container(instance).stop();
        const { NetworksDeleted: deleted } = await lab().docker.pruneNetworks();
        expect(deleted).toContain(`${instance.base}-net`);
        const { code, data } = await resume(instance);
        expect([code, data]).toMatchObject([0, { tier: 1, status: 'running' }]);
        expect(data.did_not_return).not.toContain('writable_layer');
        expect(await seenInside(sandbox, instance)).toEqual(ALL);
        const { Id, NetworkSettings: settings } = await inspect(instance);
        const network = await lab().docker.getNetwork(`${instance.base}-net`).inspect();
        expect(Id).toBe(id);
        expect(settings.Networks[`${instance.base}-net`]?.NetworkID).toBe(network.Id);
      },
      LIMIT,
    );
  });

  describe('tier 2', () => {
    test(
      'O34: a removed container is made anew at once, with project and home, and the report names the layer',
      async () => {
        const instance = await working();
        const old = await inspect(instance);
        await sandbox.container(instance).remove({ force: true });
        expect(await sandbox.status(instance)).toMatchObject({
          status: 'restore_available',
          container: 'missing',
        });
        const { code, data } = await resume(instance);
        expect([code, data]).toMatchObject([0, { tier: 2, status: 'running' }]);
        expect(data.did_not_return).toEqual(['live_processes', 'writable_layer']);
        expect(data.returned).toEqual(['home', 'working_tree']);
        expect(await seenInside(sandbox, instance)).toEqual(['project', 'home']);
        const made = await inspect(instance);
        expect([made.Image, made.Config.Labels]).toEqual([old.Image, old.Config.Labels]);
        expect(made.Id).not.toBe(old.Id);
      },
      LIMIT,
    );

    test(
      'O80: after docker container prune the row drops to the tier that is truly available',
      async () => {
        const instance = await working();
        await sandbox.container(instance).stop();
        expect((await plan(instance)).tier).toBe(1);
        const { ContainersDeleted: deleted } = await lab().docker.pruneContainers();
        expect(deleted).toHaveLength(1);
        expect(await sandbox.status(instance)).toMatchObject({
          status: 'restore_available',
          container: 'missing',
        });
        expect(await plan(instance)).toMatchObject({
          tier: 2,
          did_not_return: expect.arrayContaining(['writable_layer']),
        });
        expect((await resume(instance)).data).toMatchObject({ tier: 2, status: 'running' });
        expect(await seenInside(sandbox, instance)).toEqual(['project', 'home']);
      },
      LIMIT,
    );

    test.each([
      ['is not reported lost when it was empty', false],
      ['is reported lost when it held something', true],
    ])(
      'the layer of a container that cannot start any more %s; it costs consent, and the old one is put aside',
      async (_title, used) => {
        const instance = used ? await working() : await sandbox.load(WORKING);
        // Somebody connected it to another network, which is gone by now.
        const extra = await lab().docker.createNetwork({ Name: `extra-${instance.id}` });
        await extra.connect({ Container: instance.base });
        await sandbox.container(instance).stop();
        await extra.remove();
        const { Id: id } = await inspect(instance);

        const refused = await resume(instance);
        expect(refused).toMatchObject({ code: 3, error: { code: 'DECISION_NEEDED' } });
        expect(refused.error.message).toContain(`extra-${instance.id}`);
        expect(refused.error.details.did_not_return.includes('writable_layer')).toBe(used);
        expect((await inspect(instance)).Id).toBe(id);

        const { code, data } = await resume(instance, '--accept-loss');
        expect([code, data]).toMatchObject([0, { tier: 2, status: 'running' }]);
        expect(data.did_not_return.includes('writable_layer')).toBe(used);
        expect(await seenInside(sandbox, instance)).toEqual(used ? ['project', 'home'] : []);
        const aside = (await namesOnEngine()).find((name) => name.startsWith(`${instance.base}-before-`));
        expect((await lab().docker.getContainer(String(aside)).inspect()).Id).toBe(id);
      },
      LIMIT,
    );

    test(
      'O44: a tag that was moved to another image is named, and the recorded image is used by its id',
      async () => {
        const instance = await ofOwnImage();
        const { image_tag: tag, image_id: id } = sandbox.manifest(instance.base);
        const other = await lab().docker.getImage('debian:bookworm-slim').inspect();
        const [repo, version] = tag.split(':');
        await lab().docker.getImage(other.Id).tag({ repo, tag: version });
        await sandbox.container(instance).remove({ force: true });
        const { code, data, stderr } = await resume(instance);
        expect([code, data]).toMatchObject([0, { tier: 2, status: 'running' }]);
        expect((await inspect(instance)).Image).toBe(id);
        const told = stderr.split('\n').find((line) => line.includes(tag));
        expect(told).toContain(other.Id);
        expect(await seenInside(sandbox, instance)).toEqual(['project', 'home']);
        expect((await lab().docker.getImage(tag).inspect()).Id).toBe(other.Id);
      },
      LIMIT,
    );

    test(
      'O44: a kept session comes back by its keep tag when the tag of its role was pruned',
      async () => {
        const instance = await ofOwnImage();
        const { image_tag: tag, image_id: id } = sandbox.manifest(instance.base);
        const { code } = await sandbox.jackin(['stop', instance.id, '--keep', '--json']);
        expect(code).toBe(0);
        await lab().docker.getImage(tag).remove();
        await lab().docker.pruneImages({ filters: { dangling: ['true'] } });
        expect((await resume(instance)).data).toMatchObject({ tier: 2, status: 'running' });
        expect((await inspect(instance)).Image).toBe(id);
        expect(await seenInside(sandbox, instance)).toEqual(['project', 'home']);
      },
      LIMIT,
    );

    test(
      'O54: an image that is gone is a named error that says what a rebuild needs, and changes nothing',
      async () => {
        const instance = await ofOwnImage();
        const { image_tag: tag, image_id: id } = sandbox.manifest(instance.base);
        const saved = await buffer(await lab().docker.getImage(tag).get());
        await sandbox.container(instance).remove({ force: true });
        await lab().docker.getImage(tag).remove({ force: true });
        expect(await sandbox.status(instance)).toMatchObject({ status: 'restore_available' });
        const before = sandbox.manifest(instance.base);

        const { code, error } = await resume(instance);
        expect([code, error.code]).toEqual([1, 'IMAGE_GONE']);
        const text = `${error.message}\n${error.hint}`;
        for (const part of [id, tag, join(sandbox.root, 'fakes'), 'Dockerfile', 'debian:bookworm-slim']) {
          expect(text).toContain(part);
        }
        expect(sandbox.manifest(instance.base)).toEqual(before);
        expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
        expect(await sandbox.onEngine(instance)).toEqual([`network ${instance.base}-net`]);

        await buffer(await lab().docker.loadImage(Readable.from([saved])));
        expect((await resume(instance)).data).toMatchObject({ tier: 2, status: 'running' });
        expect(await seenInside(sandbox, instance)).toEqual(['project', 'home']);
      },
      LIMIT,
    );

    test(
      'O47: a foreign container that took the name is left alone, and the session comes back once it is renamed',
      async () => {
        const instance = await working();
        await sandbox.container(instance).remove({ force: true });
        const foreign = await lab().docker.createContainer({ ...FOREIGN, name: instance.base });
        try {
          expect(await sandbox.status(instance)).toMatchObject({ status: 'running', container: 'foreign' });
          for (const args of [
            ['resume', instance.id, '--detach'],
            ['eject', instance.id],
          ]) {
            const { code, json } = await sandbox.jackin([...args, '--json']);
            expect({ args, code, error: json().error }).toMatchObject({
              code: 1,
              error: { code: 'FOREIGN_CONTAINER', message: expect.stringContaining(instance.base) },
            });
          }
          const { Name: name, State: state } = await foreign.inspect();
          expect([name, state.Status]).toEqual([`/${instance.base}`, 'created']);
          await foreign.rename({ name: 'somebody-elses' });
          expect((await resume(instance)).data).toMatchObject({ tier: 2, status: 'running' });
          expect(await seenInside(sandbox, instance)).toEqual(['project', 'home']);
          expect((await foreign.inspect()).State.Status).toBe('created');
        } finally {
          await foreign.remove({ force: true });
        }
      },
      LIMIT,
    );
  });

  /** The plan of a restore, which changes nothing. */
  async function plan({ id }: Instance): Promise<{ tier: number; did_not_return: string[] }> {
    const { code, json } = await sandbox.jackin(['resume', id, '--dry-run', '--json']);
    expect(code).toBe(0);
    return json().data.plan;
  }
});
