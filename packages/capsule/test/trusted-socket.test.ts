import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { openTrustedSocket } from '../src/client/index.ts';
import { rejected } from './support/rejected.ts';

describe('a trusted socket', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  const uid = process.getuid?.() ?? 0;
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  async function listening(): Promise<{
    dir: string;
    path: string;
    server: Server;
    connections: () => number;
  }> {
    const dir = await mkdtemp(join(tmpdir(), 'jk-sock-'));
    cleanUp.push(() => rm(dir, { recursive: true, force: true }));
    const run = join(dir, 'run');
    await mkdir(run, { mode: 0o700 });
    const path = join(run, 'capsule.sock');
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    cleanUp.push(() => new Promise((resolve) => server.close(resolve)));
    return { dir, path, server, connections: () => connections };
  }

  const open = (path: string, expectedUid: number = uid): Promise<Duplex> =>
    openTrustedSocket(path, { expectedUid })(new AbortController().signal);

  test('is opened', async () => {
    const { path } = await listening();
    (await open(path)).destroy();
  });

  test.each<[string, (at: { dir: string; path: string }) => Promise<string>]>([
    [
      'a link to a socket',
      async ({ dir, path }) => {
        await symlink(path, join(dir, 'run', 'link.sock'));
        return join(dir, 'run', 'link.sock');
      },
    ],
    [
      'a socket in a linked directory',
      async ({ dir }) => {
        await symlink(join(dir, 'run'), join(dir, 'linked'));
        return join(dir, 'linked', 'capsule.sock');
      },
    ],
    [
      'a file',
      async ({ dir }) => {
        await writeFile(join(dir, 'run', 'file.sock'), '');
        return join(dir, 'run', 'file.sock');
      },
    ],
  ])('is not %s, and nothing is connected to', async (_, prepare) => {
    const at = await listening();
    expect((await rejected(open(await prepare(at)))).code).toBe('SOCKET_UNTRUSTED');
    expect(at.connections()).toBe(0);
  });

  const onLinux = process.platform === 'linux' ? test : () => undefined;
  onLinux(
    'is what was looked at, though a link to another socket takes its name at that moment',
    async () => {
      const [ours, victim] = [await listening(), await listening()];
      // Swaps the socket and a link to the other one under one name, as fast as it can.
      const script = `
      const { linkSync, renameSync, symlinkSync, rmSync } = require('node:fs');
      const [own, victim, name] = process.argv.slice(1);
      console.log('swapping');
      for (;;) {
        symlinkSync(victim, name + '.l'); renameSync(name + '.l', name);
        linkSync(own, name + '.s'); renameSync(name + '.s', name);
      }`;
      const name = join(ours.dir, 'run', 'swapped.sock');
      const child = spawn(process.execPath, ['-e', script, ours.path, victim.path, name]);
      cleanUp.push(async () => child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      let opened = 0;
      for (let round = 0; round < 2_000; round += 1) {
        const stream = await open(name).catch(() => null);
        if (stream !== null) opened += 1;
        stream?.destroy();
      }
      expect(opened).toBeGreaterThan(0);
      expect(victim.connections()).toBe(0);
    },
  );

  test('belongs to the user of the instance', async () => {
    const { path } = await listening();
    expect(await rejected(open(path, uid + 1))).toMatchObject({
      code: 'SOCKET_UNTRUSTED',
      message: expect.stringContaining('user id'),
    });
  });

  test('that is not there, or that nobody listens on, is unreachable', async () => {
    const { path, dir } = await listening();
    expect(await rejected(open(join(dir, 'run', 'none')))).toMatchObject({
      code: 'CAPSULE_UNREACHABLE',
      details: { reason: 'absent' },
    });
    expect(await rejected(open(join(dir, 'none', 'none')))).toMatchObject({
      code: 'CAPSULE_UNREACHABLE',
      details: { reason: 'absent' },
    });
    const dead = join(dir, 'run', 'dead.sock');
    const script =
      'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
    spawnSync(process.execPath, ['-e', script, dead]);
    expect(await rejected(open(dead))).toMatchObject({
      code: 'CAPSULE_UNREACHABLE',
      details: { reason: 'refused' },
    });
    expect((await rejected(open(path, uid + 1))).hint).toContain('jackin status');
  });
});
