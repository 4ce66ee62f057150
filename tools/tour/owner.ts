import { lstatSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownIdentity, type ProcessIdentity, processState } from '@jackin/core';

/** The name is short: the path of a Unix socket may have 103 bytes. */
const PREFIX = 'jk-tour-';
const RECORD = 'tour.json';

/** Whose a tour's directory is, and the engine its sessions may be on. */
export interface TourRecord {
  owner: ProcessIdentity;
  engine: string | null;
}

/** Makes a tour's directory, owned by this process. */
export async function claimRoot(): Promise<string> {
  const owner = await ownIdentity();
  const root = mkdtempSync(join(tmpdir(), PREFIX));
  writeRecord(root, { owner, engine: null });
  return root;
}

/** Notes the engine before anything is made on it. */
export async function recordEngine(root: string, engine: string): Promise<void> {
  writeRecord(root, { owner: await ownIdentity(), engine });
}

/** Directories of tours whose process is dead, such as one that was killed. Others' directories are not looked into. */
export async function abandonedRoots(): Promise<{ root: string; engine: string | null }[]> {
  const roots = readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(tmpdir(), name))
    .filter(isOurs);
  const abandoned = await Promise.all(
    roots.map(async (root) => {
      const record = readRecord(root);
      const dead = record !== null && (await processState(record.owner)) === 'dead';
      return dead ? [{ root, engine: record.engine }] : [];
    }),
  );
  return abandoned.flat();
}

/** The temporary directory belongs to everybody. */
function isOurs(root: string): boolean {
  const stats = lstatSync(root, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}

function writeRecord(root: string, record: TourRecord): void {
  writeFileSync(join(root, RECORD), JSON.stringify(record));
}

/** Null: not written yet, by a tour that has just begun. */
function readRecord(root: string): TourRecord | null {
  try {
    return JSON.parse(readFileSync(join(root, RECORD), 'utf8'));
  } catch {
    return null;
  }
}
