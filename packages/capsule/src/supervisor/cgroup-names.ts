import { createHash } from 'node:crypto';
import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@jackin/core';
import { findHierarchies } from './cgroup-tree.ts';

/** Deeper than any nesting of containers and service managers. */
const MAX_DEPTH = 16;

/** The directory name of a session's control group. Session ids are free text; a directory name is not. */
export function groupName(instanceId: string, sessionId: string): string {
  return `jackin-${safe(instanceId)}-${safe(sessionId)}`;
}

/**
 * Removes the groups that a killed capsule of this instance left: nothing removes a group when its last process
 * ends. Looks everywhere, because the capsule may have been started from another group than the caller. A group with
 * a process in it stays.
 * @returns the directories removed
 */
export function removeStaleCgroups(instanceId: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const prefix = groupName(instanceId, '');
  const roots = new Set([...findHierarchies().values()].map(({ root }) => root));
  const removed: string[] = [];
  for (const root of roots) removeBelow(root, prefix, MAX_DEPTH, removed);
  return removed;
}

/** True when it is not there any more. */
export function removeDirectory(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
}

function removeBelow(directory: string, prefix: string, depth: number, removed: string[]): void {
  if (depth === 0) return;
  for (const name of directoriesIn(directory)) {
    const path = join(directory, name);
    if (!name.startsWith(prefix)) removeBelow(path, prefix, depth - 1, removed);
    else if (removeDirectory(path)) removed.push(path);
  }
}

function directoriesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function safe(id: string): string {
  if (/^[A-Za-z0-9_-]{0,64}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 16);
}
