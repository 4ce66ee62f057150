import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { expectNothingLeft } from '../e2e/support/instance.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { kept, writeAll } from './support/files.ts';
import { inventory } from './support/inventory.ts';

const MINUTES = 60_000;
const LIMIT = 4 * MINUTES;
const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];
const IMAGE = 'debian:bookworm-slim';

await describeOnEngine('disaster', 'CLEAN on an engine', (lab) => {
  let sandbox: EngineSandbox;
  let before: string[];
  /** What the engine had before and after the very first session, which builds the image of its role. */
  let first: { instance: Instance; image: string; before: string[]; after: string[]; traces: string[] };

  beforeAll(async () => {
    sandbox = createEngineSandbox(lab());
    const pristine = await inventory(lab().docker);
    const instance = await working();
    const { image_id: id, image_tag: tag } = sandbox.manifest(instance.base);
    await discard(instance);
    first = {
      instance,
      image: `image ${id} ${tag}`,
      before: pristine,
      after: await inventory(lab().docker),
      traces: await sandbox.traces(instance),
    };
  }, LIMIT);
  beforeEach(async () => {
    before = await inventory(lab().docker);
  });
  afterAll(() => sandbox.dispose(), LIMIT);

  async function working(extra: string[] = []): Promise<Instance> {
    const instance = await sandbox.load(WORKING, extra);
    await writeAll(sandbox, instance);
    return instance;
  }

  async function run(...args: string[]) {
    const { code, json, stderr } = await sandbox.jackin([...args, '--json'], { timeoutMs: LIMIT });
    const { data, error } = json();
    return { code, data, error, stderr };
  }

  async function done(...args: string[]) {
    const { code, data, error } = await run(...args);
    expect({ args, code, error }).toEqual({ args, code: 0, error: undefined });
    return data;
  }

  async function discard({ id }: Instance) {
    expect(await done('stop', id, '--clean')).toMatchObject({ outcome: 'cleaned' });
  }

  /** The engine has what it had before, and on disk there is only the work in the project. */
  async function expectNoTrace(...instances: Instance[]): Promise<void> {
    expect(await inventory(lab().docker)).toEqual(before);
    for (const instance of instances) {
      expect(await sandbox.onEngine(instance)).toEqual([]);
      expect(await sandbox.traces(instance)).toEqual([]);
      expect(kept(sandbox, instance)).toEqual([instance.id, null]);
    }
  }

  test('leaves of the first session of a role its image, and nothing else', async () => {
    expectNothingLeft(sandbox);
    expect(first.traces).toEqual([]);
    expect(first.before.filter((line) => !first.after.includes(line))).toEqual([]);
    const added = first.after.filter((line) => !first.before.includes(line));
    expect(added).toContain(first.image);
    // Untagged ones are the steps of its build.
    const [, id = ''] = first.image.split(' ');
    const steps = (await lab().docker.getImage(id).history()).map(
      (layer: { Id: string }) => `image ${layer.Id}`,
    );
    for (const line of added) expect(steps).toContain(line.split(' ', 2).join(' '));
  });

  describe('no trace of a session is left after', () => {
    test(
      'stop --clean of one that works',
      async () => {
        const instance = await working();
        expect(await sandbox.onEngine(instance)).toHaveLength(2);
        await discard(instance);
        await expectNoTrace(instance);
      },
      LIMIT,
    );

    test(
      'purge --yes --force of one that works, of a stopped one without its network, and of one without its container',
      async () => {
        const instances = [await working(), await working(), await working()];
        const [, stopped, removed] = instances.map((instance) => sandbox.container(instance));
        await stopped?.stop();
        await lab().docker.pruneNetworks();
        await removed?.remove({ force: true });
        for (const { id } of instances) {
          expect(await done('purge', id, '--yes', '--force')).toMatchObject({ outcome: 'cleaned' });
        }
        await expectNoTrace(...instances);
      },
      LIMIT,
    );

    test(
      'purge --yes of one that was kept and came back in a new container, with its keep tag and its volume',
      async () => {
        const instance = await working();
        await done('stop', instance.id, '--keep');
        expect(await sandbox.onEngine(instance)).toEqual([`tag jk-keep:${instance.id}`]);
        expect(await done('resume', instance.id, '--detach')).toMatchObject({ tier: 2, status: 'running' });
        await lab().docker.createVolume({
          Name: `${instance.base}-dind-certs`,
          Labels: { 'jackin.managed': 'true', 'jackin.role': instance.base },
        });
        const things = (await sandbox.onEngine(instance)).map((line) => line.split(' ')[0]);
        expect(things).toEqual(['container', 'network', 'volume', 'tag']);
        expect(await done('purge', instance.id, '--yes')).toMatchObject({ outcome: 'cleaned' });
        await expectNoTrace(instance);
      },
      LIMIT,
    );

    test(
      'purge --yes of one whose directory somebody removed while it ran, and of a kept one',
      async () => {
        const instances = [await working(), await working()];
        const [, kept] = instances;
        await done('stop', kept?.id ?? '', '--keep');
        for (const { base } of instances) rmSync(join(sandbox.state, 'data', base), { recursive: true });
        for (const { id } of instances) {
          expect(await done('purge', id, '--yes')).toMatchObject({ outcome: 'cleaned' });
        }
        expect(await inventory(lab().docker)).toEqual(before);
        for (const instance of instances) {
          expect(await sandbox.onEngine(instance)).toEqual([]);
          expect(await sandbox.traces(instance)).toEqual([]);
        }
      },
      LIMIT,
    );

    test(
      'purge --yes of the last one that names an image, and another that needs it still comes back',
      async () => {
        const [kept, needs] = [await working(), await working()];
        const { image_id: id, image_tag: tag } = sandbox.manifest(kept.base);
        await done('stop', kept.id, '--keep');
        await sandbox.container(needs).remove({ force: true });
        await lab().docker.getImage(tag).remove();
        expect(await done('purge', kept.id, '--yes')).toMatchObject({ outcome: 'cleaned' });
        expect(await done('resume', needs.id, '--detach')).toMatchObject({ tier: 2, status: 'running' });
        const [repo, version] = tag.split(':');
        await lab().docker.getImage(id).tag({ repo, tag: version });
        await discard(needs);
        await expectNoTrace(kept, needs);
      },
      LIMIT,
    );

    test(
      'purge --yes of one whose keep tag names an image of somebody else, once that has another name',
      async () => {
        const instance = await working();
        const keepTag = `jk-keep:${instance.id}`;
        const made = await lab().docker.createContainer({ Image: IMAGE, Cmd: ['true'] });
        const { Id: foreign } = (await made.commit({ repo: 'jk-keep', tag: instance.id })) as { Id: string };
        await made.remove();
        for (const verb of [
          ['stop', instance.id, '--keep'],
          ['purge', instance.id, '--yes', '--force'],
        ]) {
          const { code, error } = await run(...verb);
          expect({ code, error: error.code }).toEqual({ code: 1, error: 'NAME_TAKEN_BY_FOREIGN' });
          expect(error.message).toContain(keepTag);
          expect((await lab().docker.getImage(foreign).inspect()).RepoTags).toEqual([keepTag]);
        }
        await lab().docker.getImage(foreign).tag({ repo: 'mine', tag: 'saved' });
        await lab().docker.getImage(keepTag).remove();
        expect(await done('purge', instance.id, '--yes', '--force')).toMatchObject({ outcome: 'cleaned' });
        await lab().docker.getImage('mine:saved').remove();
        await expectNoTrace(instance);
      },
      LIMIT,
    );

    test(
      'purge --yes of one whose container a restore put aside',
      async () => {
        const instance = await working();
        // Without somebody else's network the engine cannot start it.
        const network = await lab().docker.createNetwork({ Name: `extra-${instance.id}` });
        await network.connect({ Container: instance.base });
        await sandbox.container(instance).stop();
        await network.remove();
        expect(await done('resume', instance.id, '--detach', '--accept-loss')).toMatchObject({ tier: 2 });
        const things = (await sandbox.onEngine(instance)).map((line) => line.split(' ')[0]);
        expect(things).toEqual(['container', 'container', 'network']);
        expect(await done('purge', instance.id, '--yes')).toMatchObject({ outcome: 'cleaned' });
        await expectNoTrace(instance);
      },
      LIMIT,
    );

    test(
      'the policy that cleans, once its agent ended well',
      async () => {
        sandbox.writeConfig('dirty_exit_policy = "clean"\n');
        try {
          const instance = await sandbox.load(['sh', '-c', 'exit 0']);
          await sandbox.container(instance).wait();
          expect(await sandbox.status(instance)).toMatchObject({
            status: 'clean_exited',
            exit_pending: true,
          });
          writeFileSync(join(sandbox.project, `${instance.id}.txt`), instance.id);
          expect(await done('stop', instance.id)).toMatchObject({
            outcome: 'cleaned',
            policy: { value: 'clean', source: 'global' },
          });
          await expectNoTrace(instance);
        } finally {
          sandbox.writeConfig('');
        }
      },
      LIMIT,
    );

    test(
      'O81: five of them at once',
      async () => {
        const instances: Instance[] = [];
        for (let at = 0; at < 5; at += 1) instances.push(await working());
        expect(await inventory(lab().docker)).toHaveLength(before.length + 10);
        await Promise.all(instances.map(discard));
        await expectNoTrace(...instances);
        expectNothingLeft(sandbox);
        expect((await done('status')).instances).toEqual([]);
      },
      LIMIT,
    );
  });

  describe('O47: what has the names of a session and not its labels survives every verb, and is named', () => {
    let instance: Instance;
    let foreign: string[];

    beforeAll(async () => {
      const { docker } = lab();
      instance = await working();
      await sandbox.container(instance).remove({ force: true });
      await docker.getNetwork(`${instance.base}-net`).remove();
      const container = await docker.createContainer({
        name: instance.base,
        Image: IMAGE,
        Cmd: ['sleep', 'infinity'],
      });
      await container.start();
      await docker.createNetwork({ Name: `${instance.base}-net` });
      await docker.createVolume({ Name: `${instance.base}-dind-certs` });
      foreign = await inventory(docker);
    }, LIMIT);

    test.each([
      'load shell PROJECT --agent shell --detach --instance ID',
      'resume ID --detach --accept-loss',
      'stop ID --clean',
      'stop ID --keep',
      'eject ID',
      'purge ID --yes --force',
    ])(
      'by %s',
      async (line) => {
        const places: Record<string, string> = { ID: instance.id, PROJECT: sandbox.project };
        const { code, error } = await run(...line.split(' ').map((word) => places[word] ?? word));
        expect({ code, error }).toMatchObject({
          code: 1,
          error: { code: 'FOREIGN_CONTAINER', message: expect.stringContaining(instance.base) },
        });
        expect(await inventory(lab().docker)).toEqual(foreign);
        expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);
      },
      LIMIT,
    );

    test(
      'by exile, and by resume --all',
      async () => {
        for (const args of [
          ['exile', '--yes'],
          ['resume', '--all'],
        ]) {
          const { error } = await run(...args);
          expect(error).toBeUndefined();
          expect(await inventory(lab().docker)).toEqual(foreign);
        }
      },
      LIMIT,
    );

    test(
      'by what looks for the next thing in the way, once the container has another name',
      async () => {
        const network = `${instance.base}-net`;
        await sandbox.container(instance).rename({ name: 'somebody-elses' });
        const renamed = await inventory(lab().docker);
        const { code, error } = await run('resume', instance.id, '--detach');
        expect({ code, error }).toMatchObject({
          code: 1,
          error: { code: 'NAME_TAKEN_BY_FOREIGN', message: expect.stringContaining(network) },
        });
        expect(await inventory(lab().docker)).toEqual(renamed);
        expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);

        // None of it is in the way of what only removes our own.
        const { removed } = await done('purge', instance.id, '--yes', '--force');
        expect(removed.join()).not.toMatch(/network|volume|container/);
        expect(await sandbox.traces(instance)).toEqual([]);
        expect(await inventory(lab().docker)).toEqual(renamed);
      },
      LIMIT,
    );
  });
});
