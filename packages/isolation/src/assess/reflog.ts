import { Doubt } from './doubt.ts';
import type { Repository } from './git-directory.ts';
import type { AssessLimits } from './limits.ts';
import { text } from './names.ts';
import { readBelow } from './read.ts';

export interface StashEntry {
  commit: string;
  message: string;
}

/** Where the HEAD of a tree has been, by its own log. */
export interface HeadHistory {
  commits: ReadonlySet<string>;
  /** Short names of branches it was on. */
  branches: ReadonlySet<string>;
}

interface LogEntry {
  from: string;
  to: string;
  message: string;
}

/** The stash, newest first. @throws Doubt for a damaged one */
export function readStash(repository: Repository, tip: string | null, limits: AssessLimits): StashEntry[] {
  const log = readLog(repository.commonDir, 'logs/refs/stash', limits);
  if (tip === null) return [];
  const entries = (log ?? []).map(({ to, message }) => ({ commit: to, message: text(message) })).reverse();
  if (entries[0]?.commit === tip) return entries;
  // Without its log, or with one that is not its own, at least the tip is there.
  return [{ commit: tip, message: '' }, ...entries];
}

/** Null where it cannot be told. */
export function readHeadHistory(repository: Repository, limits: AssessLimits): HeadHistory | null {
  let log: LogEntry[] | null;
  try {
    log = readLog(repository.gitDir, 'logs/HEAD', limits);
  } catch (error) {
    if (error instanceof Doubt) return null;
    throw error;
  }
  if (log === null || log.length === 0) return null;
  const branches = log.flatMap(({ message }) => {
    const moved = /^checkout: moving from (\S+) to (\S+)$/.exec(message);
    return moved === null ? [] : [text(moved[1] ?? ''), text(moved[2] ?? '')];
  });
  return { commits: new Set(log.flatMap(({ from, to }) => [from, to])), branches: new Set(branches) };
}

/** The branch a stash was made on; null when it was on none or the message is somebody's own. */
export function stashedOn(message: string): string | null {
  const branch = /^(?:WIP on|On) ([^:]+):/.exec(message)?.[1];
  return branch === undefined || branch === '(no branch)' ? null : branch;
}

function readLog(directory: string, name: string, limits: AssessLimits): LogEntry[] | null {
  const read = readBelow(directory, name, limits.fileBytes);
  if (read === null) return null;
  return read.bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, from, to, message] =
        /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*(?:\t(.*))?$/.exec(line) ?? [];
      if (from === undefined || to === undefined) throw new Doubt('a log of refs is damaged');
      return { from, to, message: message ?? '' };
    });
}
