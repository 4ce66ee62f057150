import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ground } from './generate.ts';
import type { Exit, HistoryResult } from './history.ts';
import type { SessionTree, TreeKind } from './world.ts';

/** A ground without what only the process that made it can use. */
export type PlainGround = Omit<Ground, 'git' | 'random'>;

export interface RunOptions {
  kind: TreeKind;
  exit: Exit;
  /** How the tree is made; default: with git itself. */
  open?: (ground: PlainGround) => Promise<SessionTree>;
  /** Leave everything where it is, for somebody who looks for a fault. */
  keepFiles?: boolean;
}

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

export type Report =
  | { open: PlainGround }
  | { exit: SessionTree }
  | { done: HistoryResult }
  | { failed: string };

export interface Answer {
  tree?: SessionTree;
  why?: string;
}

/** Starts a process for histories. */
export function startHistories(): Histories {
  // No flags of this process: a test runner's are not meant for others.
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), { execArgv: [] });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    run: (seed, options) => conversation(child, seed, options),
    async [Symbol.asyncDispose]() {
      // It owns nothing: what a history leaves is removed with the history.
      child.kill('SIGKILL');
      await closed;
    },
  };
}

function conversation(child: ChildProcess, seed: number, options: RunOptions): Promise<HistoryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<HistoryResult>();
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
    child.off('message', listen);
    child.off('close', ended);
  });
}

async function respond(
  report: { open: PlainGround } | { exit: SessionTree },
  options: RunOptions,
): Promise<Answer> {
  if ('exit' in report) return { why: await options.exit(report.exit) };
  return options.open === undefined ? {} : { tree: await options.open(report.open) };
}
