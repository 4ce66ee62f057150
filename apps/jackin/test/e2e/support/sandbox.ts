import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  type Dirent,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeStaleCgroups } from '@jackin/capsule';
import { errorCode, findProcessesByEnv, type ProcessIdentity, processState } from '@jackin/core';

/** The bundled binary: what an operator runs. JACKIN_TEST_BUNDLE names another bundle directory beside it. */
export const BIN = fileURLToPath(
  new URL(`../../../dist/${process.env.JACKIN_TEST_BUNDLE ?? 'bundle'}/bin.js`, import.meta.url),
);

const COMPILE_CACHE = fileURLToPath(
  new URL('../../../../../node_modules/.cache/jackin-tests/', import.meta.url),
);

export interface CliResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** The one JSON document on stdout; throws when stdout is anything else. */
  json(): { schema_version: string; data?: any; error?: any };
}

export interface Sandbox {
  root: string;
  home: string;
  state: string;
  config: string;
  project: string;
  journal: string;
  env: Record<string, string>;
  /** Runs the real binary without a terminal. */
  jackin(
    args: string[],
    options?: { env?: Record<string, string>; cwd?: string; timeoutMs?: number },
  ): Promise<CliResult>;
  /** Starts it without waiting. */
  start(args: string[], options?: { env?: Record<string, string>; cwd?: string }): RunningCli;
  /** `load shell PROJECT --agent shell --new --detach` on standalone; returns the instance. */
  loadShell(command?: string[], extra?: string[]): Promise<{ id: string; base: string }>;
  /** Journal lines of every command run here. */
  events(): Record<string, any>[];
  manifest(base: string): Record<string, any>;
  writeConfig(toml: string): void;
  /** Everything of an instance that can be found: files, sockets, locks, rows, processes. Empty after a clean-up. */
  traces(instance: { id: string; base: string }): Promise<string[]>;
  dispose(): Promise<void>;
}

export interface RunningCli {
  pid: number;
  done: Promise<CliResult>;
  kill(signal: NodeJS.Signals): void;
}

/** `project`: a directory to share with another sandbox; by default it has its own. */
export function createSandbox(options: { root?: string; project?: string } = {}): Sandbox {
  const root = options.root ?? mkdtempSync(join(tmpdir(), 'jk-e2e-'));
  const at = (name: string) => join(root, name);
  const [home, state, config, journal] = ['home', 'state', 'config', 'journal.ndjson'].map(at) as [
    string,
    string,
    string,
    string,
  ];
  const project = options.project ?? at('project');
  for (const dir of [home, config, project]) mkdirSync(dir, { recursive: true });
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    SHELL: '/bin/bash',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    JACKIN_HOME_DIR: state,
    JACKIN_CONFIG_DIR: config,
    JACKIN_LOG: journal,
    // Each sandbox has a HOME of its own: without this every first command compiles the whole bundle again.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    // Never the operator's own engine: tests that need one say which.
    DOCKER_HOST: `unix://${at('no-engine.sock')}`,
  };
  execFileSync('git', ['init', '-q', project], { env: { ...env, GIT_CONFIG_NOSYSTEM: '1' } });

  const sandbox: Sandbox = {
    root,
    home,
    state,
    config,
    project,
    journal,
    env,
    start: (args, extra = {}) => startCli(args, { ...env, ...extra.env }, extra.cwd ?? project),
    jackin: async (args, extra = {}) => {
      const running = startCli(args, { ...env, ...extra.env }, extra.cwd ?? project);
      const timer = setTimeout(() => running.kill('SIGKILL'), extra.timeoutMs ?? 60_000);
      try {
        return await running.done;
      } finally {
        clearTimeout(timer);
      }
    },
    loadShell: async (command = [], extra = []) => {
      const tail = command.length > 0 ? ['--', ...command] : [];
      const result = await sandbox.jackin([
        ...[
          'load',
          'shell',
          project,
          '--agent',
          'shell',
          '--new',
          '--detach',
          '--json',
          '--backend',
          'standalone',
        ],
        ...extra,
        ...tail,
      ]);
      if (result.code !== 0) throw new Error(`load failed: ${result.stdout}\n${result.stderr}`);
      const { data } = result.json();
      return { id: data.instance_id, base: data.container_base };
    },
    events: () =>
      existsSync(journal)
        ? readFileSync(journal, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line))
        : [],
    manifest: (base) => JSON.parse(readFileSync(join(state, 'data', base, '.jackin/instance.json'), 'utf8')),
    writeConfig: (toml) => writeFileSync(join(config, 'config.toml'), toml),
    traces: (instance) => tracesOf(state, instance),
    dispose: async () => {
      const ids = instanceIds(state);
      const marks = [['JACKIN_HOME_DIR', state], ...ids.map((id) => ['JACKIN_INSTANCE', id])] as [
        string,
        string,
      ][];
      for (const [name, value] of marks) {
        const found = await findProcessesByEnv(name, value);
        for (const one of found) if ((await processState(one)) === 'alive') killQuietly(one.pid);
        // Until it is dead it may still make files in what is removed next.
        for (const one of found) await eventually(`${one.pid} is dead`, () => isDead(one));
      }
      // The kernel keeps them for good, and every clean-up has to look at them.
      for (const id of ids) removeStaleCgroups(id);
      rmSync(root, { recursive: true, force: true });
    },
  };
  return sandbox;
}

/** Waits for something observable, checked at file-system pace; fails with the last reason. */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`never happened within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function startCli(args: string[], env: Record<string, string>, cwd: string): RunningCli {
  const child = spawn(process.execPath, [BIN, ...args], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  const done = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const stdout = Buffer.concat(out).toString();
      resolve({
        code,
        signal,
        stdout,
        stderr: Buffer.concat(err).toString(),
        json: () => JSON.parse(stdout),
      });
    });
  });
  return { pid: child.pid as number, done, kill: (signal) => void child.kill(signal) };
}

function instanceIds(state: string): string[] {
  const data = join(state, 'data');
  if (!existsSync(data)) return [];
  return readdirSync(data).flatMap((name) => /^jk-([0-9a-z]{8})-/.exec(name)?.[1] ?? []);
}

async function tracesOf(state: string, { id, base }: { id: string; base: string }): Promise<string[]> {
  const names = ['data', 'sockets', 'runtime', 'cache'].flatMap((dir) =>
    below(join(state, dir))
      .filter((name) => name.includes(id))
      .map((name) => `${dir}/${name}`),
  );
  const index = join(state, 'data/instances.json');
  if (existsSync(index) && readFileSync(index, 'utf8').includes(base)) names.push('row in instances.json');
  const processes = await findProcessesByEnv('JACKIN_INSTANCE', id);
  return [...names, ...controlGroups(id), ...processes.map(({ pid }) => `process ${pid}`)];
}

/** Every path below a directory. Others work in it: what goes meanwhile is not there. */
function below(directory: string): string[] {
  return entriesOf(directory).flatMap((entry) => [
    entry.name,
    ...(entry.isDirectory() ? below(join(directory, entry.name)).map((name) => join(entry.name, name)) : []),
  ]);
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}

function controlGroups(id: string): string[] {
  if (!existsSync('/sys/fs/cgroup')) return [];
  const args = ['/sys/fs/cgroup', '-type', 'd', '-name', `jackin-${id}-*`];
  // Groups of others come and go while find walks: what it cannot enter is not ours.
  const { stdout } = spawnSync('find', args, { encoding: 'utf8' });
  return stdout.split('\n').filter((path) => path !== '');
}

async function isDead(one: ProcessIdentity): Promise<boolean> {
  return (await processState(one)) === 'dead';
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ended by itself meanwhile
  }
}
