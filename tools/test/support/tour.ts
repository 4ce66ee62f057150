import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProcessesByEnv } from '@jackin/core';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const TOUR = at('tools/tour/main.ts');
const BUNDLE = at('apps/jackin/dist/bundle/bin.js');

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
 * Runs the tour with its own temporary directory; once `after` stands in the output `signal` is sent, or its reader goes
 * away.
 */
export async function runTour(options: {
  args?: string[];
  interrupt?: { after: string; signal: NodeJS.Signals | 'reader' };
}): Promise<TourRun> {
  const temporary = mkdtempSync(join(tmpdir(), 'jk-t-'));
  try {
    const child = spawn(process.execPath, ['--conditions=@jackin/source', TOUR, ...(options.args ?? [])], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    let pending = options.interrupt;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (pending === undefined || !output.includes(pending.after)) return;
      if (pending.signal === 'reader') child.stdout.destroy();
      else child.kill(pending.signal);
      pending = undefined;
    });
    running.add(child);
    const [code] = (await once(child, 'close')) as [number | null];
    running.delete(child);
    return { code, output, leftovers: [...readdirSync(temporary), ...(await processesOf(output))] };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
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

async function processesOf(output: string): Promise<string[]> {
  const scratch = /^scratch +(\S+):/m.exec(output)?.[1];
  const ids = new Set(Array.from(output.matchAll(/jk-([0-9a-z]{8})-/g), ([, id]) => id as string));
  const found = await Promise.all([
    scratch === undefined ? [] : findProcessesByEnv('JACKIN_HOME_DIR', join(scratch, 'state')),
    ...[...ids].map((id) => findProcessesByEnv('JACKIN_INSTANCE', id)),
  ]);
  return found.flat().map(({ pid }) => `process ${pid}`);
}
