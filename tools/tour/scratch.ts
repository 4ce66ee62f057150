import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProcessesByEnv, type ProcessIdentity } from '@jackin/core';
import { instanceIdOf, openEngine, type TourEngine } from './engine.ts';
import { readManifest } from './manifest.ts';
import { claimRoot, recordEngine } from './owner.ts';
import { removeTour } from './remove.ts';

/** A machine of its own for the tour: home, state, configuration and a git repository under one directory. */
export interface Scratch {
  readonly root: string;
  readonly state: string;
  readonly project: string;
  readonly env: Record<string, string>;
  /** The same for a command that only looks for an engine: with the operator's settings for that. */
  readonly discoveryEnv: Record<string, string>;
  /** The manifest of an instance, as it is on disk. */
  manifest(containerBase: string): ReturnType<typeof readManifest>;
  /** Every process of the instance that is alive on this machine, found by its environment. */
  processesOf(containerBase: string): Promise<ProcessIdentity[]>;
  /** Opens the engine the sessions will be on, so that what they make there goes with the rest. */
  useEngine(endpoint: string): Promise<TourEngine>;
  /** Ends whatever the tour started and still runs, and removes everything it made. Returns what withstood. */
  dispose(): Promise<string[]>;
}

/** What the tour takes from the operator's environment: their home and settings are none of its business, but for one look. */
const PASSED_ON = ['PATH', 'LANG', 'TMPDIR'];
/** That look is for the engine, where the operator's own jackin would find it. */
const OF_DISCOVERY = [
  ...['HOME', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG'],
  ...['DOCKER_TLS', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH'],
];

export async function createScratch(): Promise<Scratch> {
  const root = await claimRoot();
  const [home, state, config, project] = ['home', 'state', 'config', 'project'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const dir of [home, config, project]) mkdirSync(dir);
  const env: Record<string, string> = {
    ...{ HOME: home, SHELL: '/bin/sh', TERM: 'xterm-256color' },
    ...{ JACKIN_HOME_DIR: state, JACKIN_CONFIG_DIR: config },
    ...fromEnvironment(PASSED_ON),
  };
  makeRepository(project, env);

  const seen = new Set<string>();
  let engine: TourEngine | null = null;
  return {
    root,
    state,
    project,
    env,
    discoveryEnv: { ...env, ...fromEnvironment(OF_DISCOVERY) },
    manifest: (base) => readManifest(state, base),
    processesOf: (base) => {
      seen.add(base);
      return findProcessesByEnv('JACKIN_INSTANCE', instanceIdOf(base) ?? base);
    },
    async useEngine(endpoint) {
      engine = openEngine(endpoint);
      env.DOCKER_HOST = endpoint;
      await recordEngine(root, endpoint);
      return engine;
    },
    dispose: () => removeTour({ root, engine, seen }),
  };
}

function fromEnvironment(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
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
