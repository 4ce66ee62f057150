import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { acquireLock } from '@jackin/core';
import { type JournalLine, lockLines, readJournal } from './journal.ts';
import { type CliResult, eventually, type Sandbox } from './sandbox.ts';

/** Something two commands need and only the test has, until it lets go. */
export interface Barrier {
  /** What the journal says a command waits for when it has arrived. */
  path: string;
  open(): Promise<void>;
}

export interface RaceResult {
  results: CliResult[];
  pids: number[];
  lines: JournalLine[];
  /** All were at the contended step before any of them had it. */
  overlapped: boolean;
}

const locksDbOf = (sandbox: Sandbox): string => join(sandbox.state, 'data/locks.db');

/** The test is the owner of a lock, as another jackin would be. */
export async function lockBarrier(sandbox: Sandbox, path: string): Promise<Barrier> {
  const options = { purpose: 'hold the race', locksDb: locksDbOf(sandbox), waitMs: 0 };
  const lock = await acquireLock(path, options);
  return { path, open: () => lock.release() };
}

/** The test is inside the guard of all locks: who has decided to take one waits right before taking it. */
export function guardBarrier(sandbox: Sandbox): Barrier {
  const path = locksDbOf(sandbox);
  const database = new DatabaseSync(path);
  database.exec('BEGIN EXCLUSIVE');
  return { path, open: async () => database.close() };
}

let races = 0;

/**
 * Starts real commands, waits until the journal shows every one of them at the barrier, and opens it.
 * @param contended the lock they race for
 */
export async function race(
  sandbox: Sandbox,
  barrier: Barrier,
  contended: string,
  commands: string[][],
): Promise<RaceResult> {
  races += 1;
  const journal = join(sandbox.root, `race-${races}.ndjson`);
  const running = commands.map((args) => sandbox.start(args, { env: { JACKIN_LOG: journal } }));
  const pids = running.map(({ pid }) => pid);
  try {
    const ended = running.map(async ({ done }) => Promise.reject(endedEarly(await done)));
    await Promise.race([...ended, allAt(barrier.path, journal, pids)]);
  } catch (error) {
    for (const { kill } of running) kill('SIGKILL');
    throw error;
  } finally {
    await barrier.open();
  }
  const results = await Promise.all(running.map(({ done }) => done));
  const lines = readJournal(journal);
  return { results, pids, lines, overlapped: overlapped(lines, barrier.path, contended, pids) };
}

async function allAt(path: string, journal: string, pids: number[]): Promise<void> {
  await eventually(
    `${pids.length} commands wait for ${path}`,
    () => {
      const waiting = lockLines(readJournal(journal), path, 'waiting').map(({ pid }) => pid);
      return pids.every((pid) => waiting.includes(pid));
    },
    30_000,
  );
}

function overlapped(lines: JournalLine[], barrier: string, contended: string, pids: number[]): boolean {
  const firstTaken = lines.indexOf(lockLines(lines, contended, 'acquired')[0] as JournalLine);
  const arrived = lockLines(lines, barrier, 'waiting').filter((line) => lines.indexOf(line) < firstTaken);
  return pids.every((pid) => arrived.some((line) => line.pid === pid));
}

function endedEarly(result: CliResult): Error {
  return new Error(`a command ended before the barrier (${result.code}): ${result.stdout}\n${result.stderr}`);
}
