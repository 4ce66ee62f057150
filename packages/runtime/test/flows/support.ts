import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectCapsule } from '@jackin/capsule/client';
import {
  findProcessesByEnv,
  type JackinEvent,
  type JackinPaths,
  resolvePaths,
  systemClock,
} from '@jackin/core';
import type { Manifest } from '@jackin/instance';
import {
  type Attach,
  type AttachOutcome,
  createJackin,
  createStandaloneBackend,
  type EndDocument,
  type FlowResult,
  type Jackin,
  type LoadDocument,
  type LoadRequest,
  type Prompts,
} from '../../src/index.ts';
import { bundled } from '../execute/support/bundled.ts';

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
  attached?: (session: Typist) => Promise<AttachOutcome | 'detach'>;
  prompts?: Partial<Prompts>;
  env?: Record<string, string>;
  cwd?: string;
}

/** A headless terminal that is really attached to the session. */
export interface Typist {
  type(text: string): void;
  instanceId: string;
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
            capsuleProgram,
            clock: systemClock,
            events: (event) => events.push(event),
            env: hostEnv,
          }),
        ],
        clientName: 'flow test',
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

/** Kills every process of an instance at once, as a crash would. */
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

const silentPrompts: Prompts = {
  available: false,
  acknowledgeUnfinished: () => unexpected('acknowledgeUnfinished'),
  chooseEnd: () => unexpected('chooseEnd'),
  chooseSession: () => unexpected('chooseSession'),
  confirm: () => unexpected('confirm'),
  chooseInstance: () => unexpected('chooseInstance'),
};

function unexpected(question: string): Promise<never> {
  return Promise.reject(new Error(`${question} was asked although nobody was expected to be`));
}

const noAttach: Attach = { run: () => Promise.reject(new Error('nothing was expected to attach')) };

/** Joins the session over the capsule's own protocol; the end of its agent is what the capsule says. */
function scriptedAttach(script: NonNullable<LabOptions['attached']>, ids: Set<string>): Attach {
  return {
    async run(request) {
      ids.add(request.instance_id);
      const connection = await connectCapsule({
        open: request.open,
        instanceId: request.instance_id,
        capsuleKey: request.capsule_key,
        clientName: 'typist',
        signal: AbortSignal.timeout(10_000),
      });
      const { promise: end, resolve } = Promise.withResolvers<Extract<AttachOutcome, { kind: 'ended' }>>();
      const session = await connection.attach({ sessionId: request.session_id, cols: 90, rows: 25 });
      const hold = { release: async () => connection.close() };
      const settle = (info: typeof session) => {
        if (info.ended === null || info.session_id !== session.session_id) return;
        const { code, signal, oom } = info.ended;
        resolve({ kind: 'ended', code, signal, oom, hold });
      };
      connection.onMessage((message) => {
        if (message.type === 'session_ended') settle(message.session);
      });
      settle(session);
      const lost = connection.closed.then(({ reason }): AttachOutcome => ({ kind: 'lost', reason }));
      const done = script({
        type: (text) => connection.write(Buffer.from(text)),
        instanceId: request.instance_id,
      });
      const wanted = await Promise.race([done, end, lost]);
      if (wanted === 'detach') {
        connection.close();
        return { kind: 'detached' };
      }
      return wanted;
    },
  };
}

/** Types the line and waits until the agent has ended. */
export const type =
  (line: string): NonNullable<LabOptions['attached']> =>
  async (session) => {
    session.type(`${line}\r`);
    return untilItEnds();
  };

/** The operator waits; whatever happens to the session ends the attachment. */
export const untilItEnds = (): Promise<never> => new Promise(() => undefined);
