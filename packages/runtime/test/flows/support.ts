import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findProcessesByEnv,
  type JackinEvent,
  type JackinPaths,
  processState,
  resolvePaths,
  systemClock,
} from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import type { GitRunner } from '@jackin/isolation';
import {
  createJackin,
  createStandaloneBackend,
  type EndDocument,
  type FlowResult,
  type InstanceDocument,
  type Jackin,
  type LoadDocument,
  type LoadRequest,
  type Prompts,
} from '../../src/index.ts';
import { bundled } from '../execute/support/bundled.ts';
import { noAttach, type Script, scriptedAttach, silentPrompts } from './typist.ts';

/** Bundled once for all tests of a file: they start a capsule each. */
let capsule: ReturnType<typeof bundled> | undefined;

/** A machine of its own: real files, real capsule processes, an operator who types what the test says. */
export interface Lab {
  root: string;
  project: string;
  paths: JackinPaths;
  events: JackinEvent[];
  /** Commands as they would run at a terminal (`typed` is the operator) or without one. */
  jackin(options?: LabOptions): Jackin;
  config(toml: string): Promise<void>;
  workspace(name: string, toml: string): Promise<void>;
  manifest(base: string): Promise<Manifest>;
  /** Everything of an instance that can be found. Empty after a clean-up. */
  traces(id: string): Promise<string[]>;
  dispose(): Promise<void>;
}

export interface LabOptions {
  /** What the operator does once attached; without it there is no terminal. */
  attached?: Script;
  prompts?: Partial<Prompts>;
  env?: Record<string, string>;
  cwd?: string;
  /** Another program in place of the capsule. */
  capsule?: { file: string; args: string[] };
  /** Runs git for worktrees and clones. */
  git?: GitRunner;
}

export async function openLab(): Promise<Lab> {
  capsule ??= bundled(new URL('../../../capsule/src/main.ts', import.meta.url));
  const capsuleProgram = await capsule;
  const root = await realpath(await mkdtemp(join(tmpdir(), 'jk-flow-')));
  const project = join(root, 'project');
  const env = { JACKIN_HOME_DIR: join(root, 'state'), JACKIN_CONFIG_DIR: join(root, 'config') };
  await mkdir(project);
  await mkdir(join(env.JACKIN_CONFIG_DIR, 'workspaces'), { recursive: true });
  const paths = resolvePaths(env);
  const events: JackinEvent[] = [];
  const hostEnv = { PATH: process.env.PATH, HOME: join(root, 'user'), SHELL: '/bin/sh', LANG: 'C.UTF-8' };
  const ids = new Set<string>();
  return {
    root,
    project,
    paths,
    events,
    jackin: (options = {}) =>
      createJackin({
        paths,
        env: { ...hostEnv, ...options.env },
        cwd: options.cwd ?? project,
        events: (event) => events.push(event),
        clock: systemClock,
        prompts: { ...silentPrompts, ...options.prompts },
        attach: options.attached === undefined ? noAttach : scriptedAttach(options.attached, ids),
        terminal: options.attached === undefined ? null : { size: () => ({ cols: 90, rows: 25 }) },
        backends: [
          createStandaloneBackend({
            paths,
            capsuleProgram: options.capsule ?? capsuleProgram,
            clock: systemClock,
            events: (event) => events.push(event),
            env: hostEnv,
          }),
        ],
        clientName: 'flow test',
        ...(options.git === undefined ? {} : { git: options.git }),
      }),
    config: (toml) => writeFile(join(paths.configDir, 'config.toml'), toml),
    workspace: (name, toml) => writeFile(join(paths.configDir, 'workspaces', `${name}.toml`), toml),
    manifest: async (base) => JSON.parse(await readFile(paths.instance(base).manifest, 'utf8')),
    traces: (id) => tracesOf(paths, id),
    dispose: async () => {
      for (const base of await readdir(paths.dataDir).catch(() => [])) {
        const id = /^jk-([0-9a-z]{8})-/.exec(base)?.[1];
        if (id !== undefined) ids.add(id);
      }
      for (const id of ids) await killAll(id);
      await rm(root, { recursive: true, force: true });
    },
  };
}

export const loadRequest = (changes: Partial<LoadRequest> = {}): LoadRequest => ({
  role: 'shell',
  target: null,
  agent: null,
  session: null,
  policy: null,
  detach: true,
  mounts: [],
  mountIsolation: [],
  limits: {},
  backend: 'standalone',
  command: [],
  acceptLoss: false,
  allowDrift: false,
  force: false,
  dryRun: false,
  ...changes,
});

export const quiet = { acceptLoss: false, allowDrift: false, dryRun: false } as const;

export function loaded(result: FlowResult): LoadDocument {
  if (result.kind !== 'load') throw new Error(`a load was expected, not ${JSON.stringify(result)}`);
  return result.document;
}

export function ended(result: FlowResult): EndDocument & { exitCode: number } {
  if (result.kind !== 'end') throw new Error(`an end was expected, not ${JSON.stringify(result)}`);
  return { ...result.document, exitCode: result.exitCode };
}

/** What `status` says about one instance. */
export async function statusOf(lab: Lab, id: string): Promise<InstanceDocument> {
  const result = await lab.jackin().status({ instance: id, detail: false, sizes: false });
  const instance = result.kind === 'status' ? result.document.instances[0] : undefined;
  if (instance === undefined) throw new Error(`${id} is not listed`);
  return instance;
}

/** Waits for another process to do something that cannot be awaited; the test's own timeout ends it. */
export async function until(probe: () => Promise<boolean>): Promise<void> {
  while (!(await probe())) await systemClock.sleep(20);
}

/** Kills every process of an instance at once, as a crash would, and waits until the kernel has let go of them. */
export async function killAll(id: string): Promise<void> {
  for (;;) {
    const found = await findProcessesByEnv('JACKIN_INSTANCE', id);
    if (found.length === 0) return;
    for (const { pid } of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // ended by itself meanwhile
      }
    }
    await until(async () => {
      const states = await Promise.all(found.map((identity) => processState(identity)));
      return states.every((state) => state === 'dead');
    });
  }
}

async function tracesOf(paths: JackinPaths, id: string): Promise<string[]> {
  const files: string[] = [];
  for (const dir of [paths.dataDir, paths.socketsDir]) {
    const names = await readdir(dir, { recursive: true }).catch(() => []);
    files.push(...names.filter((name) => name.includes(id)));
  }
  const index = await readFile(paths.indexFile, 'utf8').catch(() => '');
  const processes = await findProcessesByEnv('JACKIN_INSTANCE', id);
  return [
    ...files,
    ...(index.includes(id) ? ['a row in the index'] : []),
    ...processes.map(({ pid }) => `process ${pid}`),
  ];
}

export { type, untilItEnds } from './typist.ts';
