import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bundle, made by `npm run build`. JACKIN_TEST_BUNDLE names another directory beside it. */
export const BUNDLE = fileURLToPath(
  new URL(`../../dist/${process.env.JACKIN_TEST_BUNDLE ?? 'bundle'}/`, import.meta.url),
);
export const BIN = join(BUNDLE, 'bin.js');

/** Each place has a HOME of its own: without this every first command compiles the whole bundle again. */
const COMPILE_CACHE = fileURLToPath(
  new URL('../../../../node_modules/.cache/jackin-tests/', import.meta.url),
);

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Place {
  root: string;
  project: string;
  config: string;
  env: Record<string, string>;
  run(args: string[], options?: { env?: Record<string, string>; nodeArgs?: string[] }): Promise<Run>;
  dispose(): void;
}

/** An empty machine: its own HOME, state, configuration and project. */
export function openPlace(): Place {
  const root = mkdtempSync(join(tmpdir(), 'jk-cli-'));
  const [home, project, config] = ['home', 'project', 'config'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [home, project, config]) mkdirSync(dir);
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    SHELL: '/bin/sh',
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    JACKIN_HOME_DIR: join(root, 'state'),
    JACKIN_CONFIG_DIR: config,
    // Never the operator's own engine.
    DOCKER_HOST: `unix://${join(root, 'no-engine.sock')}`,
  };
  return {
    root,
    project,
    config,
    env,
    run: (args, options = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [...(options.nodeArgs ?? []), BIN, ...args], {
          cwd: project,
          env: { ...env, ...options.env },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        let stdout = '';
        let stderr = '';
        child.stdout.on('data', (chunk) => {
          stdout += chunk;
        });
        child.stderr.on('data', (chunk) => {
          stderr += chunk;
        });
        child.on('error', reject);
        child.on('close', (code) => resolve({ code, stdout, stderr }));
      }),
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}
