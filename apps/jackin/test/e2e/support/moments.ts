import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JournalLine, readJournal } from './journal.ts';
import type { RunningCli, Sandbox } from './sandbox.ts';

/** A command that runs with a journal of its own. */
export interface Command extends RunningCli {
  lines(): JournalLine[];
  /** What `probe` finds in the journal, as soon as it is there; null when the command ended without it. */
  until<T>(probe: (lines: JournalLine[]) => T | undefined): Promise<T | null>;
  /** The first line that fits. */
  line(fits: (line: JournalLine) => boolean): Promise<JournalLine | null>;
}

const POLL_MS = 2;
const LIMIT_MS = 60_000;
let commands = 0;

export function begin(sandbox: Sandbox, args: string[]): Command {
  commands += 1;
  const journal = join(sandbox.root, `command-${commands}.ndjson`);
  const running = sandbox.start(args, { env: { JACKIN_LOG: journal } });
  const lines = () => readJournal(journal);
  let ended = false;
  void running.done.finally(() => {
    ended = true;
  });

  async function until<T>(probe: (lines: JournalLine[]) => T | undefined): Promise<T | null> {
    const deadline = Date.now() + LIMIT_MS;
    for (let seen = 0; ; await sleep(POLL_MS)) {
      const last = ended;
      const size = statSync(journal, { throwIfNoEntry: false })?.size ?? 0;
      const found = size === seen ? undefined : probe(lines());
      if (found !== undefined) return found;
      if (last) return null;
      seen = size;
      if (Date.now() > deadline) throw new Error(`${args.join(' ')} never came to that moment`);
    }
  }

  return { ...running, lines, until, line: (fits) => until((all) => all.find(fits)) };
}

export function stepBegins(op: string): (line: JournalLine) => boolean {
  return (line) => line.type === 'step' && line.op === op && line.state === 'started';
}

export function lockLine(path: string, state: string): (line: JournalLine) => boolean {
  return (line) => line.type === 'lock' && line.path === path && line.state === state;
}
