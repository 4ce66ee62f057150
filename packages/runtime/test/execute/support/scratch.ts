import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EventSink,
  findProcessesByEnv,
  type JackinEvent,
  type JackinPaths,
  processState,
  resolvePaths,
  systemClock,
} from '@jackin/core';
import { createInstanceStore, type InstanceStore } from '@jackin/instance';
import type { Backend } from '../../../src/backend.ts';
import type { ExecutorPorts } from '../../../src/execute/ports.ts';
import { type CapsuleAccess, createCapsuleAccess } from '../../../src/observe/capsule-access.ts';
import { createObserveOne, type ObserveDeps } from '../../../src/observe/observe.ts';
import { createStandaloneBackend } from '../../../src/standalone/adapter.ts';
import { createTrees } from '../../../src/trees.ts';

const CAPSULE_VARIABLE = 'JACKIN_TEST_CAPSULE';
let program: Promise<{ file: string; args: string[] }> | undefined;

/** The real capsule. A process started with `childEnv` uses the one this process built. */
function capsuleProgram(): Promise<{ file: string; args: string[] }> {
  program ??= buildCapsule();
  return program;
}

async function buildCapsule(): Promise<{ file: string; args: string[] }> {
  const built = process.env[CAPSULE_VARIABLE];
  if (built !== undefined) return { file: process.execPath, args: [built] };
  const { bundled } = await import('./bundled.ts');
  return bundled(new URL('../../../../capsule/src/main.ts', import.meta.url));
}

export async function childEnv(): Promise<NodeJS.ProcessEnv> {
  return { ...process.env, [CAPSULE_VARIABLE]: (await capsuleProgram()).args[0] };
}

/** A state directory, a project and every real part of the runtime on them. */
export interface Scratch {
  root: string;
  /** The operator's project. */
  workdir: string;
  paths: JackinPaths;
  env: NodeJS.ProcessEnv;
  store: InstanceStore;
  capsule: CapsuleAccess;
  backend: Backend;
  events: JackinEvent[];
  observeDeps: ObserveDeps;
  ports(overrides?: Partial<ExecutorPorts>): ExecutorPorts;
  /** Ends the processes of these instances and removes every file. */
  dispose(): Promise<void>;
}

export interface ScratchOptions {
  /** An existing scratch root: a second process on the same state. */
  root?: string;
  /** Names of directories to put between root and state, to make paths long. */
  depth?: string;
  /** Where the events go besides the list. */
  sink?: EventSink;
  env?: NodeJS.ProcessEnv;
}

export async function createScratch(options: ScratchOptions = {}): Promise<Scratch> {
  const root = options.root ?? (await realpath(await mkdtemp(join(tmpdir(), 'jk-rt-'))));
  const home = join(root, options.depth ?? '', 'h');
  const workdir = join(root, 'project');
  await mkdir(workdir, { recursive: true });
  const env = { ...process.env, ...options.env, JACKIN_HOME_DIR: home, JACKIN_CONFIG_DIR: join(root, 'c') };
  const paths = resolvePaths(env);
  const events: JackinEvent[] = [];
  const sink: EventSink = (event) => {
    events.push(event);
    options.sink?.(event);
  };
  const store = createInstanceStore({ paths, events: sink, clock: systemClock });
  const capsule = createCapsuleAccess({ paths, clientName: 'runtime-test' });
  const backend = createStandaloneBackend({
    paths,
    capsuleProgram: await capsuleProgram(),
    clock: systemClock,
    events: sink,
    env,
  });
  const backends = new Map([['standalone' as const, backend]]);
  // A busy machine must not make a capsule look silent.
  const bounds = { backendMs: 20_000, capsuleMs: 10_000 };
  const trees = createTrees({ env });
  const observeDeps: ObserveDeps = { store, paths, backends, capsule, trees, bounds };
  return {
    root,
    workdir,
    paths,
    env,
    store,
    capsule,
    backend,
    events,
    observeDeps,
    ports: (overrides = {}) => ({
      store,
      paths,
      backends,
      events: sink,
      clock: systemClock,
      observeOne: createObserveOne(observeDeps),
      trees,
      lock: null,
      resolveEnv: async (references) =>
        Object.fromEntries(references.map(({ name, source }) => [name, source.replace(/^literal:/, '')])),
      capsule,
      hostEnv: env,
      ...overrides,
    }),
    async dispose() {
      for (const base of await readdir(paths.dataDir).catch(() => [])) {
        const id = /^jk-([0-9a-z]{8})/.exec(base)?.[1];
        if (id !== undefined) await killInstance(id);
      }
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** SIGKILLs every process of an instance, as a crash of the supervisor with its children does. */
export async function killInstance(instanceId: string): Promise<void> {
  for (;;) {
    const found = await findProcessesByEnv('JACKIN_INSTANCE', instanceId);
    if (found.length === 0) return;
    for (const { pid } of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    for (const identity of found) {
      while ((await processState(identity)) === 'alive') await systemClock.sleep(5);
    }
  }
}

/** Every path below a directory, relative and sorted; empty when it does not exist. */
export async function listing(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true }).catch(() => []);
  return entries.sort();
}
