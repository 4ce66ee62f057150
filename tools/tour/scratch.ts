import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProcessesByEnv, type ProcessIdentity } from '@jackin/core';
import { endAll } from './processes.ts';

/** A machine of its own for the tour: home, state, configuration and a git repository under one directory. */
export interface Scratch {
  readonly root: string;
  readonly state: string;
  readonly project: string;
  readonly env: Record<string, string>;
  /** The manifest of an instance, as it is on disk. */
  manifest(containerBase: string): TourManifest;
  /** Every process of the instance that is alive, found by its environment. */
  processesOf(instanceId: string): Promise<ProcessIdentity[]>;
  /** Ends whatever the tour started and still runs, and removes the directory. Returns what withstood. */
  dispose(): Promise<string[]>;
}

/** The few fields of instance.json (docs/storage.md) that the tour looks at. */
interface TourManifest {
  status: string;
  backend?: { standalone?: { pid: number; socket?: string } };
}

/** The engine is looked for where the operator's own jackin would; nothing else of their environment is used. */
const PASSED_ON = ['PATH', 'LANG', 'TMPDIR', 'DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG'];

export function createScratch(): Scratch {
  // The name is short: the path of a Unix socket may have 103 bytes.
  const root = mkdtempSync(join(tmpdir(), 'jk-tour-'));
  const [home, state, config, project] = ['home', 'state', 'config', 'project'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const dir of [home, config, project]) mkdirSync(dir);
  const env: Record<string, string> = { HOME: home, SHELL: '/bin/sh', TERM: 'xterm-256color' };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, { JACKIN_HOME_DIR: state, JACKIN_CONFIG_DIR: config });
  makeRepository(project, env);

  const seen = new Set<string>();
  return {
    root,
    state,
    project,
    env,
    manifest: (base) =>
      JSON.parse(readFileSync(join(state, 'data', base, '.jackin', 'instance.json'), 'utf8')),
    processesOf: (instanceId) => {
      seen.add(instanceId);
      return findProcessesByEnv('JACKIN_INSTANCE', instanceId);
    },
    dispose: () => dispose(root, state, seen),
  };
}

function makeRepository(project: string, env: Record<string, string>): void {
  writeFileSync(join(project, 'README'), 'A project to work on.\n');
  const author = ['-c', 'user.name=tour', '-c', 'user.email=tour@localhost'];
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...author, 'commit', '-q', '-m', 'A project to work on'],
  ]) {
    execFileSync('git', args, { cwd: project, env: { ...env, GIT_CONFIG_NOSYSTEM: '1' } });
  }
}

async function dispose(root: string, state: string, seen: ReadonlySet<string>): Promise<string[]> {
  const dirs = [root, ...socketDirsOutside(root, state)];
  const alive = await endAll(async () => {
    const ids = [...seen, ...instanceIdsOf(state)];
    const found = await Promise.all([
      findProcessesByEnv('JACKIN_HOME_DIR', state),
      ...ids.map((id) => findProcessesByEnv('JACKIN_INSTANCE', id)),
    ]);
    return found.flat();
  });
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  return [...alive.map(({ pid }) => `process ${pid}`), ...dirs.filter((dir) => existsSync(dir))];
}

/** Instances whose directory is there, whatever became of the command that made it. */
function instanceIdsOf(state: string): string[] {
  return basesOf(state).flatMap((base) => /^jk-([0-9a-z]{8})-/.exec(base)?.[1] ?? []);
}

/** Where a socket's path would have been too long, it lies in a directory of its own that the manifest names. */
function socketDirsOutside(root: string, state: string): string[] {
  return basesOf(state).flatMap((base) => {
    const manifest = join(state, 'data', base, '.jackin', 'instance.json');
    if (!existsSync(manifest)) return [];
    const { backend }: TourManifest = JSON.parse(readFileSync(manifest, 'utf8'));
    const socket = backend?.standalone?.socket;
    return socket === undefined || socket.startsWith(`${root}/`) ? [] : [dirname(socket)];
  });
}

function basesOf(state: string): string[] {
  const data = join(state, 'data');
  return existsSync(data) ? readdirSync(data).filter((name) => name.startsWith('jk-')) : [];
}
