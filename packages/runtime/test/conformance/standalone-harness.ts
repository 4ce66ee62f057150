import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bootId, ensurePrivateDir, identifyProcess, processState } from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { InstanceRef, Inventory } from '../../src/backend.ts';
import type { BackendHarness } from '../../src/conformance/index.ts';
import { writeAgentConfig } from '../../src/observe/agent-config-file.ts';
import { newSubject } from '../execute/support/plans.ts';
import { childEnv, createScratch, killInstance } from '../execute/support/scratch.ts';

/** One instance on the standalone backend, with the real capsule. */
export async function makeStandaloneHarness(): Promise<BackendHarness> {
  const scratch = await createScratch();
  const { paths, backend, store } = scratch;
  const subject = newSubject(scratch.workdir);
  const place = paths.instance(subject.base);
  let manifest: Manifest = subject.manifest;
  const ref = (): InstanceRef => ({
    instance_id: subject.instanceId,
    container_base: subject.base,
    manifest,
  });
  const strangers: { pid: number; end(): Promise<void> }[] = [];

  return {
    backend,
    ref,
    async prepare() {
      await store.create(subject.manifest);
      await ensurePrivateDir(place.sockets);
      await writeAgentConfig(paths, subject.base, {
        instance_id: subject.instanceId,
        role: 'shell',
        workdir: scratch.workdir,
        agents: ['shell'],
        capsule_key: randomBytes(32).toString('hex'),
      });
    },
    context: (signal) => ({
      ref: ref(),
      recipe: subject.recipe,
      dirs: {
        data: place.dir,
        home: place.home,
        state: place.state,
        sockets: place.sockets,
        agent_config: place.agentConfig,
      },
      mounts: [],
      env: {},
      signal,
    }),
    recordStart({ standalone }) {
      if (!standalone) throw new Error('the standalone backend must say what to record');
      manifest = { ...manifest, backend: { standalone } };
    },
    recordRemoval() {
      manifest = { ...manifest, backend: { standalone: null } };
    },
    crash: () => killInstance(subject.instanceId),
    async foreign() {
      // A stranger that got the pid of a capsule that died: the recorded start time is not his.
      const stranger = await startStranger();
      strangers.push(stranger);
      const identity = await identifyProcess(stranger.pid);
      const standalone = { pid: stranger.pid, start_time: '1', boot_id: await bootId() };
      const mistaken = { ...ref(), manifest: { ...manifest, backend: { standalone } } };
      return {
        ref: mistaken,
        untouched: async () => identity !== null && (await processState(identity)) === 'alive',
      };
    },
    observeUnreachable: () => observeWithoutProc(scratch.root, manifest),
    async filesIntact() {
      const files = [place.manifest, place.agentConfig, place.home, place.state, scratch.workdir];
      return (
        await Promise.all(
          files.map((file) =>
            lstat(file).then(
              () => true,
              () => false,
            ),
          ),
        )
      ).every(Boolean);
    },
    async dispose() {
      for (const stranger of strangers) await stranger.end();
      await scratch.dispose();
    },
  };
}

async function startStranger(): Promise<{ pid: number; end(): Promise<void> }> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(child, 'spawn');
  return {
    pid: child.pid as number,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** A real cause: a child of its own mount namespace in which /proc is empty (elsewhere: a PATH without `ps`). */
async function observeWithoutProc(root: string, manifest: Manifest): Promise<Inventory> {
  const program = fileURLToPath(new URL('./observe-child.ts', import.meta.url));
  const file = `${root}/manifest.json`;
  await writeFile(file, JSON.stringify(manifest));
  const node = [process.execPath, '--conditions=@jackin/source', program, root, file];
  const linux = process.platform === 'linux';
  const hide = 'mount -t tmpfs none /proc && exec "$@"';
  const argv = linux
    ? ['unshare', process.getuid?.() === 0 ? '-m' : '-rm', 'sh', '-c', hide, 'sh', ...node]
    : node;
  const child = spawn(argv[0] as string, argv.slice(1), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...(await childEnv()), ...(linux ? {} : { PATH: '/nowhere' }) },
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString('utf8');
  });
  await once(child, 'close');
  const answer = JSON.parse(output) as { engine: Inventory['engine']; instances: [string, unknown][] };
  return {
    engine: answer.engine,
    instances: new Map(answer.instances) as Inventory['instances'],
    orphans: [],
  };
}
