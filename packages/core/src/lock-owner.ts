import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import * as z from 'zod';
import { errorCode, fileSystemError, notARegularFile } from './file-errors.ts';
import type { LockOwner } from './ports.ts';
import { bootId, ownIdentity, processState } from './process-identity.ts';

const MAX_OWNER_BYTES = 8_192;
const LOOKS = 10;

/** The owner as `X.lock` holds it. `lock_id` tells two acquisitions of one process apart. */
export type OwnerRecord = LockOwner & { lock_id: string };

const ownerSchema = z.looseObject({
  pid: z.number().int().positive(),
  start_time: z.string().min(1),
  boot_id: z.string().min(1),
  host: z.string(),
  since: z.string(),
  purpose: z.string(),
  pid_namespace: z.string().optional(),
});

export type LockState =
  | { state: 'free' }
  | { state: 'held'; owner: LockOwner }
  | { state: 'unknown'; reason: string };

/** What is on disk: the owner file's bytes and whether `X.lock.d` is there. Equal looks compare equal. */
export interface LockLook {
  owner: string | null;
  /** Inode of `X.lock.d`; null when it is absent. */
  directory: string | null;
}

/** As LockState, with a dead owner told from a free lock, and the look the judgement is about. */
export type JudgedLock = { look: LockLook } & (LockState | { state: 'dead'; owner: LockOwner });

/**
 * Whether a lock is held, without touching it. A lock whose owner is proven dead counts as free, an owner that
 * cannot be judged (another host, not understood) as unknown.
 * @throws JackinError `STATE_NOT_READABLE`.
 */
export async function inspectLock(path: string): Promise<LockState> {
  const judged = await judgeLock(path);
  switch (judged.state) {
    case 'held':
      return { state: 'held', owner: judged.owner };
    case 'unknown':
      return { state: 'unknown', reason: judged.reason };
    default:
      return { state: 'free' };
  }
}

/** A consistent look at the lock and the judgement on its owner. Death is final, so `dead` stays true. */
export async function judgeLock(path: string): Promise<JudgedLock> {
  const look = consistentLook(path);
  if (look === null) {
    const changing = { state: 'unknown', reason: 'its owner changes faster than it can be read' } as const;
    return { look: { owner: null, directory: null }, ...changing };
  }
  return { look, ...(await judge(look)) };
}

export function directoryOf(path: string): string {
  return `${path}.d`;
}

export function lookAtLock(path: string): LockLook {
  return { directory: inodeOf(directoryOf(path)), owner: readOwner(path) };
}

export function sameLook(a: LockLook, b: LockLook): boolean {
  return a.owner === b.owner && a.directory === b.directory;
}

/** This process as the owner to be. @throws JackinError `BOOT_ID_UNKNOWN`, `PROCESS_UNKNOWN`. */
export async function ownRecord(purpose: string, since: Date, lockId: string): Promise<OwnerRecord> {
  return {
    ...(await ownIdentity()),
    host: hostname(),
    since: since.toISOString(),
    purpose,
    pid_namespace: pidNamespace(),
    lock_id: lockId,
  };
}

/**
 * Writes the owner in place: it is only ever called under the guard while `X.lock.d` is absent, so a half-written
 * record is a free lock, and no temporary file can be left behind. fsync comes before the directory is made, so
 * that after a power cut a taken lock has its owner.
 */
export function writeOwner(path: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw notARegularFile(path);
    ftruncateSync(file);
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Two equal looks: an owner read while another process was taking the lock over is looked at again. */
function consistentLook(path: string): LockLook | null {
  let look = lookAtLock(path);
  for (let attempt = 0; attempt < LOOKS; attempt += 1) {
    const again = lookAtLock(path);
    if (sameLook(look, again)) return look;
    look = again;
  }
  return null;
}

async function judge(look: LockLook): Promise<LockState | { state: 'dead'; owner: LockOwner }> {
  if (look.directory === null) return { state: 'free' };
  const owner = parseOwner(look.owner);
  if (owner === null) return { state: 'unknown', reason: 'its owner record is missing or not understood' };
  const state = await processState(owner);
  if (state === 'alive') return { state: 'held', owner };
  if (state === 'dead' && (await deathIsProven(owner))) return { state: 'dead', owner };
  return {
    state: 'unknown',
    reason: `its owner, process ${owner.pid} on the host ${owner.host}, cannot be seen from here`,
  };
}

/** "No such process here" says nothing about a process of another machine or of another pid namespace. */
async function deathIsProven(owner: LockOwner): Promise<boolean> {
  if (owner.host !== hostname()) return false;
  if (owner.boot_id !== (await bootId())) return true;
  return owner.pid_namespace === undefined || owner.pid_namespace === pidNamespace();
}

function parseOwner(text: string | null): LockOwner | null {
  if (text === null) return null;
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function readOwner(path: string): string | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw notARegularFile(path);
      const bytes = Buffer.alloc(MAX_OWNER_BYTES);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, MAX_OWNER_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    if (errorCode(error) === 'ELOOP' || errorCode(error) === 'ENXIO') throw notARegularFile(path);
    throw fileSystemError(error, path, 'read the lock');
  }
}

function inodeOf(directory: string): string | null {
  try {
    return String(lstatSync(directory, { bigint: true }).ino);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw fileSystemError(error, directory, 'read the lock');
  }
}

function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}
