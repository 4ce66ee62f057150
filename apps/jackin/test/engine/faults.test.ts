import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type Docker from 'dockerode';
import { type DockerLab, startLab } from '../../../../tools/docker-lab/index.ts';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import type { JournalLine } from '../e2e/support/journal.ts';
import { begin } from '../e2e/support/moments.ts';
import { createEngineSandbox, type EngineSandbox, type Instance } from './support/engine-sandbox.ts';
import { fakeRole } from './support/fake-role.ts';
import { ALL, kept, seenInside, writeAll } from './support/files.ts';
import { inventory } from './support/inventory.ts';

const MINUTES = 60_000;
const LIMIT = 4 * MINUTES;
const WORKING = ['sh', '-c', 'while :; do sleep 1; done'];
const IMAGE = 'debian:bookworm-slim';
/** What comes to harm between the plan of a launch and its container happens while this is built. */
const SLOW_STEP = 'RUN sleep 3\n';

await describeOnEngine('disaster', 'what an engine cannot do', (lab) => {
  let sandbox: EngineSandbox;

  beforeAll(() => {
    sandbox = createEngineSandbox(lab());
  });
  afterAll(() => sandbox.dispose(), LIMIT);

  async function working(extra: string[] = []): Promise<Instance> {
    const instance = await sandbox.load(WORKING, extra);
    await writeAll(sandbox, instance);
    return instance;
  }

  /** A command that is refused: by `code`, naming `names`. Its error. */
  async function refused(args: string[], code: string, ...names: string[]) {
    const result = await sandbox.jackin([...args, '--json'], { timeoutMs: LIMIT });
    return expectRefusal(result, code, ...names);
  }

  function load(role: string, ...extra: string[]): string[] {
    const what = ['load', role, sandbox.project, '--agent', 'shell', '--new', '--detach'];
    return [...what, '--backend', 'docker', ...extra];
  }

  async function expectBack({ id }: Instance, tier: number): Promise<void> {
    const { code, json } = await sandbox.jackin(['resume', id, '--detach', '--json'], { timeoutMs: LIMIT });
    expect([code, json().data]).toMatchObject([0, { tier, status: 'running' }]);
  }

  /** Of a launch that failed its record is left, and nothing else. */
  async function expectOnlyARecord(details: Record<string, string>): Promise<void> {
    const instance = sandbox.adopt({
      id: String(details.instance_id),
      base: String(details.container_base),
    });
    expect(await sandbox.status(instance)).toMatchObject({ status: 'failed_setup', cause: 'setup_failed' });
    expect(await sandbox.onEngine(instance)).toEqual([]);
  }

  /** Names of containers and networks, without those of the image builder. */
  async function things(docker: Docker = lab().docker): Promise<string[]> {
    return (await inventory(docker)).filter((line) => !line.startsWith('image '));
  }

  describe('a mount source that is missing', () => {
    test(
      'before a launch: it is named, nothing is made, and the launch works once it is there',
      async () => {
        const source = join(sandbox.root, 'not-there-yet');
        const before = await things();
        const extra = ['--mount', `${source}:/extra`];
        await refused(load('shell', ...extra), 'MOUNT_SOURCE_MISSING', source);
        expect(await things()).toEqual(before);
        expect((await sandbox.jackin(['status', '--json'])).json().data.instances).toEqual([]);
        mkdirSync(source);
        writeFileSync(join(source, 'in-it.txt'), 'there');
        const instance = await working(extra);
        expect(await sandbox.exec(instance, 'cat', '/extra/in-it.txt')).toBe('there');
      },
      LIMIT,
    );

    test(
      'from the middle of a launch on: it is named, and nothing half made is left',
      async () => {
        const source = join(sandbox.root, 'removed-meanwhile');
        mkdirSync(source);
        slowRole('mount source');
        const before = await things();
        const extra = ['--mount', `${source}:/extra`];
        const { result } = await meanwhile(load('fakes', ...extra), () =>
          rmSync(source, { recursive: true }),
        );
        const { details } = expectRefusal(result, 'MOUNT_SOURCE_MISSING', source);
        await expectOnlyARecord(details);
        expect(await things()).toEqual(before);
        mkdirSync(source);
        expect((await sandbox.load(WORKING, extra, { role: 'fakes' })).id).not.toBe(details.instance_id);
      },
      LIMIT,
    );

    test(
      'when a session comes back: it is named, and nothing changes until it is there again',
      async () => {
        const source = join(sandbox.root, 'comes-and-goes');
        mkdirSync(source);
        const [stopped, removed] = [
          await working(['--mount', `${source}:/extra`]),
          await working(['--mount', `${source}:/extra`]),
        ];
        await sandbox.container(stopped).stop();
        await sandbox.container(removed).remove({ force: true });
        await sandbox.jackin(['status']);
        rmSync(source, { recursive: true });
        const records = () =>
          [stopped, removed].map(({ base }) => ({ ...sandbox.manifest(base), updated_at: null }));
        const before = { things: await things(), records: records() };
        for (const { id } of [stopped, removed]) {
          await refused(['resume', id, '--detach', '--accept-loss'], 'MOUNT_SOURCE_MISSING', source);
        }
        expect({ things: await things(), records: records() }).toEqual(before);
        mkdirSync(source);
        await expectBack(stopped, 1);
        expect(await seenInside(sandbox, stopped)).toEqual(ALL);
        await expectBack(removed, 2);
        expect(await seenInside(sandbox, removed)).toEqual(['project', 'home']);
      },
      LIMIT,
    );
  });

  test(
    'O47: a foreign container that takes the name while the image is built is named and left alone',
    async () => {
      slowRole('name');
      const before = await things();
      const { result, seen: base } = await meanwhile(load('fakes'), async (lines) => {
        const base = lines.findLast((line) => line.type === 'plan' && line.kind === 'launch')?.container_base;
        await lab().docker.createContainer({ name: base, Image: IMAGE, Cmd: ['true'] });
        return base as string;
      });
      try {
        const { details } = expectRefusal(result, 'NAME_TAKEN_BY_FOREIGN', base);
        const foreign = await lab().docker.getContainer(base).inspect();
        expect(foreign.State.Status).toBe('created');
        expect(await things()).toEqual([`container /${base} ${foreign.Id} created`, ...before].sort());
        expect(details.kind).toBe('container');
      } finally {
        await lab().docker.getContainer(base).remove({ force: true });
      }
      expect(await things()).toEqual(before);
      await sandbox.load(WORKING, [], { role: 'fakes' });
    },
    LIMIT,
  );

  test(
    'an image without glibc is named with what is needed, and the role works on another base',
    async () => {
      const tag = await lab().noGlibcImage();
      const config = fakeRole(sandbox, 'no glibc');
      const dockerfile = join(sandbox.root, 'fakes/Dockerfile');
      const good = readFileSync(dockerfile, 'utf8');
      const bad = good.replace(IMAGE, tag);
      writeFileSync(dockerfile, bad.replace('COPY', 'RUN /bin/busybox --install -s /bin\nCOPY'));
      sandbox.writeConfig(config);
      const before = await things();
      const { hint, details } = await refused(load('fakes'), 'IMAGE_INCOMPATIBLE', 'jk_fakes');
      expect(hint).toMatch(/glibc 2\.28.*change the base image of the role/);
      await expectOnlyARecord(details);
      expect(await things()).toEqual(before);

      writeFileSync(dockerfile, good);
      const instance = await sandbox.load(WORKING, [], { role: 'fakes' });
      expect(await sandbox.status(instance)).toMatchObject({ status: 'running', agent_alive: 'yes' });
    },
    LIMIT,
  );

  /** The role of `fakeRole`, whose image takes its time. */
  function slowRole(salt: string): void {
    sandbox.writeConfig(fakeRole(sandbox, salt));
    appendFileSync(join(sandbox.root, 'fakes/Dockerfile'), SLOW_STEP);
  }

  /** Does something while the command builds the slow step; its result. */
  async function meanwhile<T>(args: string[], act: (lines: JournalLine[]) => T | Promise<T>) {
    const command = begin(sandbox, [...args, '--json', '--', ...WORKING]);
    const building = await command.line(
      (line) => line.type === 'stage' && JSON.stringify(line).includes('sleep 3'),
    );
    expect(building).not.toBeNull();
    const seen = await act(command.lines());
    return { result: await command.done, seen };
  }
});

await describeOnEngine('disaster', 'O46: an engine without addresses', () => {
  let small: DockerLab;
  let sandbox: EngineSandbox;

  beforeAll(async () => {
    small = await startLab({ networks: 4 });
    sandbox = createEngineSandbox(small);
  }, 5 * MINUTES);
  afterAll(async () => {
    await sandbox.dispose();
    await small.dispose();
  }, LIMIT);

  test(
    'is named with the number of our unused networks, nothing is removed, and the same commands work once there is one',
    async () => {
      const { docker } = small;
      const instance = await sandbox.load(WORKING);
      await writeAll(sandbox, instance);
      await sandbox.container(instance).stop();
      await docker.getNetwork(`${instance.base}-net`).remove();
      expect(await sandbox.status(instance)).toMatchObject({ status: 'stopped' });
      const left = 'jk-zzzzzzzz-shell';
      const Labels = { 'jackin.managed': 'true', 'jackin.role': left };
      await docker.createNetwork({ Name: `${left}-net`, Labels });
      const foreign = await fillUp(docker);
      const [before, manifest] = [await inventory(docker), sandbox.manifest(instance.base)];
      const exhausted = ['ADDRESS_POOLS_EXHAUSTED', "1 of jackin's networks"] as const;

      const resume = ['resume', instance.id, '--detach', '--json'];
      expectRefusal(await sandbox.jackin(resume), ...exhausted);
      expect(await inventory(docker)).toEqual(before);
      const { status, exit_cause: cause } = sandbox.manifest(instance.base);
      expect({ status, cause }).toEqual({ status: manifest.status, cause: manifest.exit_cause });
      expect(kept(sandbox, instance)).toEqual([instance.id, instance.id]);

      const load = ['load', 'shell', sandbox.project, '--agent', 'shell', '--new', '--detach', '--json'];
      const { details, hint } = expectRefusal(
        await sandbox.jackin([...load, '--backend', 'docker']),
        ...exhausted,
      );
      expect(details).toMatchObject({ unused_networks: 1, networks: [`${left}-net`] });
      expect(hint).toMatch(/jackin doctor/);
      expect(await inventory(docker)).toEqual(before);
      const failed = sandbox.adopt({ id: details.instance_id, base: details.container_base });
      expect(await sandbox.status(failed)).toMatchObject({ status: 'failed_setup', cause: 'setup_failed' });

      for (const name of foreign) await docker.getNetwork(name).remove();
      const back = await sandbox.jackin(resume);
      expect([back.code, back.json().data]).toMatchObject([0, { tier: 1, status: 'running' }]);
      expect(await seenInside(sandbox, instance)).toEqual(ALL);
      await docker.getNetwork(`${left}-net`).remove();
      expect(await sandbox.status(await sandbox.load(WORKING))).toMatchObject({ status: 'running' });
    },
    LIMIT,
  );

  /** Takes every address that is left; the names of what took them. */
  async function fillUp(docker: Docker): Promise<string[]> {
    for (const names: string[] = []; ; names.push(`theirs-${names.length}`)) {
      try {
        await docker.createNetwork({ Name: `theirs-${names.length}` });
      } catch (error) {
        expect((error as Error).message).toMatch(/address pool|subnetted/);
        expect(names.length).toBeGreaterThan(0);
        return names;
      }
    }
  }
});

function expectRefusal(
  { code: exit, json, stdout }: { code: number | null; json(): any; stdout: string },
  code: string,
  ...names: string[]
) {
  expect({ exit, stdout }).toEqual({ exit: 1, stdout });
  const { error } = json();
  expect(error.code).toEqual(code);
  for (const name of names) expect(error.message).toContain(name);
  expect(error.hint).toEqual(expect.stringMatching(/\S/));
  return error;
}
