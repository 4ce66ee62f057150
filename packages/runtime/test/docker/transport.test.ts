import { once } from 'node:events';
import { chown, lstat, readlink, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { newSessionId } from '@jackin/core';
import { expect, it, jest } from '@jest/globals';
import { describeOnEngine } from '../../../../tools/docker-lab/suite.ts';
import { inside, onEngine } from './support/on-engine.ts';
import { freshSignal, type Subject } from './support/subject.ts';

jest.setTimeout(120_000);

await describeOnEngine('harmless', 'the way to a capsule on an engine', (engine) => {
  const { subject: make, cleanUp } = onEngine(engine);

  /** A socket of the host that must not be connected to; how often it was. */
  async function trap(subject: Subject, name = 'trap.sock'): Promise<{ path: string; hits(): number }> {
    let hits = 0;
    const server = createServer((socket) => {
      hits += 1;
      socket.destroy();
    });
    const path = join(subject.root, name);
    server.listen(path);
    await once(server, 'listening');
    cleanUp(() => server.close());
    return { path, hits: () => hits };
  }

  const opened = async (subject: Subject) => {
    const stream = await subject.backend.capsule(subject.ref()).open(freshSignal());
    const kind = stream.constructor.name;
    stream.destroy();
    return kind === 'Socket' ? 'socket' : 'exec';
  };

  async function runsSession(subject: Subject): Promise<void> {
    const connection = await subject.connect();
    let screen = '';
    const said = Promise.withResolvers<void>();
    connection.onTerminal((bytes) => {
      screen += Buffer.from(bytes).toString('utf8');
      if (screen.includes('uid=1000')) said.resolve();
    });
    const sessionId = newSessionId();
    await connection.startSession({
      session_id: sessionId,
      name: 'shell',
      agent: 'shell',
      argv: ['/bin/sh', '-c', 'read x; id; read y'],
      cwd: subject.workdir,
      env: { HOME: '/home/agent', TERM: 'xterm', JACKIN_INSTANCE: subject.id },
      cols: 80,
      rows: 24,
    });
    await connection.attach({ sessionId, cols: 80, rows: 24 });
    connection.write(Buffer.from('go\r'));
    await said.promise;
    await connection.endSession(sessionId, 0);
    connection.close();
  }

  it('is the socket, and an agent runs as the mapped user', async () => {
    const subject = await make();
    await subject.launch();
    expect(await opened(subject)).toBe('socket');
    await runsSession(subject);
  });

  it('is an exec of the proxy where the path is too long for a socket, and nothing of it stays behind', async () => {
    const { docker } = engine();
    const subject = await make({ depth: 'd'.repeat(90) });
    await subject.launch();
    expect(await opened(subject)).toBe('exec');
    await runsSession(subject);
    const execs = (await docker.getContainer(subject.base).inspect()).ExecIDs ?? [];
    for (const id of execs) {
      const exec = docker.getExec(id);
      while ((await exec.inspect()).Running) await inside(docker, subject.base, ['true']);
    }
    const top = await docker.getContainer(subject.base).top();
    expect(top.Processes.flat().filter((cell: string) => cell.includes('proxy'))).toEqual([]);
  });

  it('is never a link that the container put in its place', async () => {
    const { docker, env } = engine();
    const subject = await make();
    await subject.launch();
    const bait = await trap(subject);
    for (const target of [bait.path, env.DOCKER_HOST.replace('unix://', '')]) {
      await inside(docker, subject.base, ['ln', '-sf', target, '/jackin/run/capsule.sock'], '1000:1000');
      expect(await readlink(subject.place.socket)).toBe(target);
      await expect(subject.backend.capsule(subject.ref()).open(freshSignal())).rejects.toMatchObject({
        code: 'CAPSULE_UNREACHABLE',
        message: expect.stringContaining('ENOENT'),
      });
    }
    expect(bait.hits()).toBe(0);
  });

  it("is no socket of another user's", async () => {
    const subject = await make();
    await subject.launch();
    await rm(subject.place.socket);
    const server = createServer();
    server.listen(subject.place.socket);
    await once(server, 'listening');
    cleanUp(() => server.close());
    expect((await lstat(subject.place.socket)).uid).toBe(0);
    let connections = 0;
    server.on('connection', (socket) => {
      connections += 1;
      socket.destroy();
    });
    // The proxy in the container runs as the instance's user, who may not connect to it either.
    await expect(subject.backend.capsule(subject.ref()).open(freshSignal())).rejects.toMatchObject({
      code: 'CAPSULE_UNREACHABLE',
    });
    expect(connections).toBe(0);
  });

  it('is not through a run directory that is a link', async () => {
    const subject = await make();
    await subject.launch();
    const bait = await trap(subject, 'capsule.sock');
    await chown(bait.path, 1000, 1000);
    await subject.backend.stop(subject.ref(), 5_000, freshSignal());
    await rm(subject.place.sockets, { recursive: true });
    await symlink(subject.root, subject.place.sockets);
    await expect(subject.backend.capsule(subject.ref()).open(freshSignal())).rejects.toMatchObject({
      code: 'CAPSULE_UNREACHABLE',
    });
    expect(bait.hits()).toBe(0);
    await rm(subject.place.sockets);
  });

  it('a capsule that ended cannot be reached, and a container that is gone is named', async () => {
    const subject = await make();
    await subject.launch();
    await subject.backend.stop(subject.ref(), 5_000, freshSignal());
    const open = () => subject.backend.capsule(subject.ref()).open(freshSignal());
    await expect(open()).rejects.toMatchObject({ code: 'CAPSULE_UNREACHABLE' });
    await subject.backend.remove(subject.ref(), 'container', freshSignal());
    await expect(open()).rejects.toMatchObject({ code: 'CONTAINER_MISSING' });
  });

  it('ends with the reason of its signal while the container does not answer', async () => {
    const { docker } = engine();
    const subject = await make({ depth: 'd'.repeat(90) });
    await subject.launch();
    const reason = new Error('enough');
    const controller = new AbortController();
    const opening = subject.backend.capsule(subject.ref()).open(controller.signal);
    const outcome = expect(opening).rejects.toBe(reason);
    controller.abort(reason);
    await outcome;
    await docker.getContainer(subject.base).kill();
  });
});
