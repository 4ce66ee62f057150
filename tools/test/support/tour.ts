import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProcessesByEnv } from '@jackin/core';
import type Docker from 'dockerode';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const TOUR = at('tools/tour/main.ts');
const BUNDLE = at(`apps/jackin/dist/${process.env.JACKIN_TEST_BUNDLE ?? 'bundle'}/bin.js`);
const NO_ENGINE = 'unix:///nonexistent/docker.sock';

export interface TourRun {
  code: number | null;
  output: string;
  /** What it left in its temporary directory, and which of its processes are alive. */
  leftovers: string[];
}

const running = new Set<ChildProcess>();

/** Ends tours that a test gave up waiting for: they clean up after themselves. */
export async function endRunningTours(): Promise<void> {
  await Promise.all(
    [...running].map((child) => {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      return closed;
    }),
  );
}

/**
 * Runs the tour with its own temporary directory, or with `temporary`; once `after` stands in the output `signal` is sent
 * or called, or its reader goes away. Without `env` it finds no engine, whatever this machine has.
 */
export async function runTour(options: {
  args?: string[];
  env?: Record<string, string>;
  temporary?: string;
  interrupt?: { after: string; signal: NodeJS.Signals | 'reader' | (() => void) };
}): Promise<TourRun> {
  const temporary = options.temporary ?? mkdtempSync(join(tmpdir(), 'jk-t-'));
  const env = { ...process.env, DOCKER_HOST: NO_ENGINE, ...options.env, TMPDIR: temporary };
  try {
    const child = spawn(
      process.execPath,
      ['--conditions=@jackin/source', TOUR, ...(options.args ?? ['--cli', BUNDLE])],
      {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let output = '';
    let pending = options.interrupt;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (pending === undefined || !output.includes(pending.after)) return;
      if (pending.signal === 'reader') child.stdout.destroy();
      else if (typeof pending.signal === 'function') pending.signal();
      else child.kill(pending.signal);
      pending = undefined;
    });
    running.add(child);
    const [code] = (await once(child, 'close')) as [number | null];
    running.delete(child);
    return { code, output, leftovers: [...readdirSync(temporary), ...(await traces(output))] };
  } finally {
    if (options.temporary === undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

/** The instances a tour spoke of. */
export function instancesIn(output: string): string[] {
  return [...new Set(Array.from(output.matchAll(/jk-([0-9a-z]{8})-/g), ([, id]) => id as string))];
}

/** Everything on an engine in which one of `words` occurs: names, labels, tags, mounts. */
export async function onEngine(docker: Docker, words: string[]): Promise<string[]> {
  const [containers, networks, { Volumes: volumes }, images] = await Promise.all([
    docker.listContainers({ all: true }),
    docker.listNetworks(),
    docker.listVolumes(),
    docker.listImages(),
  ]);
  return [...containers, ...networks, ...(volumes ?? []), ...images]
    .map((one) => JSON.stringify(one))
    .filter((text) => words.some((word) => text.includes(word)));
}

/**
 * Writes a command line that is the real one except for `intercept`: JavaScript that sees `args` (the words),
 * `real(args)` (runs the real one, returns its stdout and exit code) and `state` (the state directory), and ends the
 * process where it wants to interfere.
 */
export function writeBrokenCli(dir: string, intercept: string): string {
  const file = join(dir, 'cli.mjs');
  writeFileSync(
    file,
    `import * as childProcess from 'node:child_process';
import * as fs from 'node:fs';
const args = process.argv.slice(2);
const state = process.env.JACKIN_HOME_DIR;
const run = (words, stdio) =>
  childProcess.spawnSync(process.execPath, [${JSON.stringify(BUNDLE)}, ...words], { encoding: 'utf8', stdio });
const real = (words) => run(words, ['ignore', 'pipe', 'inherit']);
${intercept}
process.exit(run(args, 'inherit').status ?? 1);
`,
  );
  return file;
}

/** The processes of a tour that are alive. */
export async function traces(output: string): Promise<string[]> {
  const scratch = /^scratch +(\S+):/m.exec(output)?.[1];
  const found = await Promise.all([
    scratch === undefined ? [] : findProcessesByEnv('JACKIN_HOME_DIR', join(scratch, 'state')),
    ...instancesIn(output).map((id) => findProcessesByEnv('JACKIN_INSTANCE', id)),
  ]);
  return found.flat().map(({ pid }) => `process ${pid}`);
}
