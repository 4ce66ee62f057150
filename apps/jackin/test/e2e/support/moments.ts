import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JournalLine, readJournal } from './journal.ts';
import type { RunningCli, Sandbox } from './sandbox.ts';

/** A command that runs with a journal of its own. */
export interface Command extends RunningCli {
  lines(): JournalLine[];
  /** The first line that fits, as soon as it is there; null when the command ended without it. */
  line(fits: (line: JournalLine) => boolean): Promise<JournalLine | null>;
}

const POLL_MS = 2;
const LIMIT_MS = 60_000;
let commands = 0;

export function begin(sandbox: Sandbox, args: string[]): Command {
  commands += 1;
  const journal = join(sandbox.root, `command-${commands}.ndjson`);
  const running = sandbox.start(args, { env: { JACKIN_LOG: journal } });
  let ended = false;
  void running.done.finally(() => {
    ended = true;
  });
  return {
    ...running,
    lines: () => readJournal(journal),
    async line(fits) {
      const deadline = Date.now() + LIMIT_MS;
      for (let seen = -1; ; await sleep(POLL_MS)) {
        const last = ended;
        const size = statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
        const found = size === seen ? undefined : readJournal(journal).find(fits);
        if (found !== undefined) return found;
        if (last) return null;
        seen = size;
        if (Date.now() > deadline) throw new Error(`${args.join(' ')} never came to that line`);
      }
    },
  };
}

export function stepBegins(op: string): (line: JournalLine) => boolean {
  return (line) => line.type === 'step' && line.op === op && line.state === 'started';
}

export function lockLine(path: string, state: string): (line: JournalLine) => boolean {
  return (line) => line.type === 'lock' && line.path === path && line.state === state;
}
