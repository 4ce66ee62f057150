import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pidAnswers } from '@jackin/core';

const NAME = /^jackin-assess-(\d+)-/;
/** Where the temporary directory is shared with other process namespaces, a number that is free here may be taken there. */
const LEAST_AGE_MS = 60 * 60_000;

/** The beginning of the name of everything this process puts into the temporary directory. */
export function ownPrefix(): string {
  return `jackin-assess-${process.pid}-`;
}

/** Removes what assessments that were killed left there: copies of indexes, which may be large. Never fails. */
export function removeLeftBehind(directory: string = tmpdir(), now: number = Date.now()): void {
  for (const name of namesIn(directory)) {
    const pid = Number(NAME.exec(name)?.[1]);
    const path = join(directory, name);
    if (Number.isNaN(pid) || pidAnswers(pid) || !isOurs(path, now - LEAST_AGE_MS)) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Somebody else removes it, or nobody can.
    }
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isOurs(path: string, before: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && stats.mtimeMs < before;
}
