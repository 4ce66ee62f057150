import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ground } from './ground.ts';
import type { Exit, HistoryResult } from './history.ts';
import { placeForWorkshops } from './workshop.ts';
import type { SessionTree, TreeKind } from './world.ts';

export interface RunOptions {
  kind: TreeKind;
  exit: Exit;
  /** How the tree is made, the same way for every history of a process; default: with git itself. */
  open?: (ground: Ground) => Promise<SessionTree>;
  /** Leave everything where it is, for somebody who looks for a fault. */
  keepFiles?: boolean;
}

/** A history takes about a second: one that takes this long waits for something. */
const LIMIT_MS = 240_000;

/** One process that makes one history after the other; the exits run here. */
export interface Histories extends AsyncDisposable {
  run(seed: number, options: RunOptions): Promise<HistoryResult>;
}

export interface Order {
  seed: number;
  kind: TreeKind;
  opens: boolean;
  keepFiles: boolean;
}

export type Report = { open: Ground } | { exit: SessionTree } | { done: HistoryResult } | { failed: string };

export interface Answer {
  tree?: SessionTree;
  why?: string;
}

/** Starts a process for histories. */
export function startHistories(): Histories {
  const home = mkdtempSync(join(placeForWorkshops(), 'jackin-histories-'));
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [home], {
    // No flags of this process: a test runner's are not meant for others.
    execArgv: [],
    // The head of a group, so that a git it waits for can be ended with it.
    detached: true,
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    run: (seed, options) => conversation(child, seed, options),
    async [Symbol.asyncDispose]() {
      end(child);
      await closed;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function end(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, 'SIGKILL');
}

function conversation(child: ChildProcess, seed: number, options: RunOptions): Promise<HistoryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<HistoryResult>();
  const limit = setTimeout(() => end(child), LIMIT_MS);
  const listen = (report: Report): void => {
    if ('done' in report) resolve(report.done);
    else if ('failed' in report) reject(new Error(`history ${seed} (${options.kind}): ${report.failed}`));
    else respond(report, options).then((answer) => child.send(answer), reject);
  };
  const ended = (): void => reject(new Error(`history ${seed} (${options.kind}): the process ended`));
  child.on('message', listen);
  child.once('close', ended);
  const order: Order = {
    seed,
    kind: options.kind,
    opens: options.open !== undefined,
    keepFiles: options.keepFiles === true,
  };
  child.send(order);
  return promise.finally(() => {
    clearTimeout(limit);
    child.off('message', listen);
    child.off('close', ended);
  });
}

async function respond(
  report: { open: Ground } | { exit: SessionTree },
  options: RunOptions,
): Promise<Answer> {
  if ('exit' in report) return { why: await options.exit(report.exit) };
  return options.open === undefined ? {} : { tree: await options.open(report.open) };
}
