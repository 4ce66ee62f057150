import { once } from 'node:events';
import { existsSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, processState } from '@jackin/core';
import { afterEach, expect, jest, test } from '@jest/globals';
import Docker from 'dockerode';
import { BASE_IMAGE, type DockerLab, findLab, startLab } from '../docker-lab/index.ts';
import { ping } from '../docker-lab/ping.ts';
import { describeOnEngine } from '../docker-lab/suite.ts';
import { runProgram, runScript, startWorkload, tracesOf } from './support/lab.ts';

// Each starts engines, and other suites run beside it.
jest.setTimeout(180_000);

await describeOnEngine('disaster', 'A disaster', (lab) => {
  test.each([
    ['powerCut', { deaf: 255, deafWithInit: 255, polite: 255 }],
    ['engineCrash', { deaf: 137, deafWithInit: 143, polite: 0 }],
    ['engineStop', { deaf: 137, deafWithInit: 143, polite: 0 }],
  ] as const)(
    '%s leaves the exit codes it leaves on a real machine, and every container',
    async (name, codes) => {
      const kinds = {
        deaf: { init: false, trapsTerm: false },
        deafWithInit: { init: true, trapsTerm: false },
        polite: { init: true, trapsTerm: true },
      };
      const network = await lab().docker.createNetwork({ Name: 'sessions' });
      const entries = await Promise.all(
        Object.entries(kinds).map(
          async ([kind, how]) => [kind, await startWorkload(lab(), { ...how, network: 'sessions' })] as const,
        ),
      );
      const before = await Promise.all(entries.map(([, container]) => container.inspect()));

      await lab()[name]();
      await expect(ping(lab().docker)).rejects.toThrow();
      const alive = before.filter(({ State }) => existsSync(`/proc/${State.Pid}/root/opt`));
      // Only the crash of the engine is not noticed by what runs in the containers.
      expect(alive).toHaveLength(name === 'engineCrash' ? 3 : 0);

      await lab().start();
      const after = await Promise.all(
        entries.map(async ([key, one]) => [key, (await one.inspect()).State.ExitCode] as const),
      );
      expect(Object.fromEntries(after)).toEqual(codes);
      for (const [, container] of entries) await container.getArchive({ path: '/opt/layer' });
      await Promise.all(entries.map(([, container]) => container.start()));
      const again = await Promise.all(entries.map(([, container]) => container.inspect()));
      expect(again.map(({ State }) => State.Running)).toEqual([true, true, true]);
      await Promise.all(entries.map(([, container]) => container.remove({ force: true })));
      await network.remove();
    },
  );

  test('A start that is not needed is refused', async () => {
    await expect(lab().start()).rejects.toThrow('runs already');
    await ping(lab().docker);
  });

  test('A second engine is another engine, whatever happens to the first', async () => {
    const second = await lab().secondEngine();
    const [one, other] = await Promise.all([lab().docker.info(), second.docker.info()]);
    expect(other.ID).not.toBe(one.ID);
    const containers = await Promise.all(
      [lab(), second].map((engine) => startWorkload(engine, { init: true, trapsTerm: false })),
    );
    const addresses = await Promise.all(
      containers.map(
        async (container) => (await container.inspect()).NetworkSettings.Networks.bridge?.IPAddress,
      ),
    );
    expect(new Set(addresses).size).toBe(2);
    await lab().powerCut();
    expect((await second.docker.listContainers()).map(({ Id }) => Id)).toEqual([containers[1]?.id]);
    await lab().start();
  });

  test('A silent socket accepts and never answers', async () => {
    const { socket, close } = await lab().silentSocket();
    const connection = connect(socket);
    await once(connection, 'connect');
    const closed = once(connection, 'close');
    await expect(ping(new Docker({ socketPath: socket }))).rejects.toThrow(/abort/i);
    await close();
    await closed;
    expect(existsSync(socket)).toBe(false);
  });

  test('A dangling socket is a link to nothing', async () => {
    const socket = await lab().danglingSocket();
    expect(existsSync(readlinkSync(socket))).toBe(false);
    await expect(ping(new Docker({ socketPath: socket }))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

await describeOnEngine('disaster', 'A lab', () => {
  const labs: DockerLab[] = [];
  afterEach(async () => {
    for (const lab of labs.splice(0)) await lab.dispose();
  });

  test('leaves nothing on the machine, and its address pool has the size it was given', async () => {
    const lab = await startLab({ networks: 2 });
    labs.push(lab);
    for (const Name of ['a', 'b']) await lab.docker.createNetwork({ Name });
    await expect(lab.docker.createNetwork({ Name: 'c' })).rejects.toThrow('available');
    await startWorkload(lab, { init: true, trapsTerm: false });
    await lab.silentSocket();
    const second = await lab.secondEngine();
    expect(tracesOf(lab)).toEqual(['cgroup', 'directory', 'interface', 'mount', 'process', 'rule']);

    await lab.dispose();
    expect(tracesOf(lab)).toEqual([]);
    expect(tracesOf(second)).toEqual([]);
  });

  test('has a way out to this machine', async () => {
    const lab = await startLab();
    labs.push(lab);
    const server = createServer((connection) => connection.end('here I am\n')).listen(0);
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const container = await lab.docker.createContainer({
        Image: BASE_IMAGE,
        Cmd: ['bash', '-c', `read -r words < /dev/tcp/machine/${port} && [ "$words" = 'here I am' ]`],
        HostConfig: { ExtraHosts: ['machine:host-gateway'] },
      });
      await container.start();
      expect(await container.wait()).toMatchObject({ StatusCode: 0 });
    } finally {
      server.close();
    }
  });

  test('that was disposed of leaves its successor alone', async () => {
    const former = await startLab();
    await former.dispose();
    const successor = await startLab();
    labs.push(successor);
    await expect(former.powerCut()).rejects.toThrow('is no more');
    await former.dispose();
    await ping(successor.docker);
  });

  test('whose owner was killed is swept by the next, also by two at once', async () => {
    const { child, line: dir } = await runScript(
      "import { startLab } from 'LAB/index.ts'; console.log((await startLab()).dir); setInterval(() => {}, 1e6);",
    );
    const orphan = await findLab(dir);
    const workload = await startWorkload(orphan, { init: false, trapsTerm: false });
    const { State } = await workload.inspect();
    const identity = await identifyProcess(State.Pid);
    const { ID } = await orphan.docker.info();
    child.kill('SIGKILL');
    await once(child, 'exit');

    labs.push(...(await Promise.all([startLab(), startLab()])));
    expect(identity && (await processState(identity))).toBe('dead');
    const ids = await Promise.all(labs.map(async ({ docker }) => (await docker.info()).ID));
    expect(new Set([...ids, ID]).size).toBe(3);
    for (const { docker } of labs) expect(await docker.listContainers({ all: true })).toEqual([]);
  });

  test('that is shared is one for the whole run and goes when the run is gone', async () => {
    const { child, line } = await runScript(
      `import { sharedLab } from 'LAB/shared.ts';
const labs = await Promise.all([sharedLab(), sharedLab(), sharedLab()]);
console.log(JSON.stringify(labs.map(({ dir }) => dir)));
setInterval(() => {}, 1e6);`,
    );
    const dirs = JSON.parse(line) as string[];
    const lab = await findLab(dirs[0] ?? '');
    expect(new Set(dirs).size).toBe(1);
    await startWorkload(lab, { init: true, trapsTerm: false });
    child.kill('SIGKILL');
    await gone(() => tracesOf(lab).length > 0);
  });

  test('can be tried by hand, and broken', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'jk-lab-'));
    const dir = join(scratch, 'lab');
    try {
      expect(await runProgram('env', dir)).toMatchObject({ code: 1, stderr: `There is no lab in ${dir}.\n` });
      const up = await runProgram('up', dir);
      const lab = await findLab(dir);
      labs.push(lab);
      expect(up).toEqual({ code: 0, stdout: `export DOCKER_HOST=${lab.env.DOCKER_HOST}\n`, stderr: '' });
      const container = await startWorkload(lab, { init: true, trapsTerm: false });
      expect(await runProgram('power-cut', dir)).toMatchObject({ code: 0 });
      expect(await runProgram('up', dir)).toEqual(up);
      expect((await container.inspect()).State.ExitCode).toBe(255);
      expect(await runProgram('down', dir)).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(existsSync(dir) || existsSync(lab.dir)).toBe(false);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });

  test('is explained to whoever mistypes a verb', async () => {
    expect(await runProgram('powercut')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('power-cut'),
    });
  });
});

/** The keeper is no child of ours: there is nothing to wait on. */
async function gone(isThere: () => boolean): Promise<void> {
  while (isThere()) await sleep(50);
}
