import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '@jackin/core';
import type { EXIT_RECORD_FILE, HEARTBEAT_FILE, SCREEN_FILE } from '../protocol/index.ts';
import { type Log, reasonOf } from './log.ts';

export type StateFile = typeof EXIT_RECORD_FILE | typeof HEARTBEAT_FILE | typeof SCREEN_FILE;

/**
 * The capsule's side of the state directory. Whoever runs in the instance can put anything there, so nothing that
 * lies there is opened for writing: a new file replaces what has the name, a link included. A write that fails
 * (full disk) is logged once and never ends anything.
 */
export interface StateDir {
  readonly path: string;
  /** Soon, without waiting for the disk; of several values for one file only the last may be written. */
  write(file: StateFile, value: unknown): void;
  /** Now and durably. */
  writeNow(file: StateFile, value: unknown): void;
  remove(file: StateFile): void;
  /** Resolves when nothing is being written. */
  settled(): Promise<void>;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY } = constants;
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
const TEMPORARY = /^\.(exit|heartbeat|screen)\.json\.[0-9a-f]{8}\.tmp$/;

export function openStateDir(path: string, log: Log): StateDir {
  const waiting = new Map<StateFile, unknown>();
  const writing = new Map<StateFile, Promise<void>>();
  sweep(path);

  function failed(file: StateFile, error: unknown): void {
    log.once(file, `cannot write ${join(path, file)}: ${reasonOf(error)}`);
  }

  async function writeAll(file: StateFile): Promise<void> {
    while (waiting.has(file)) {
      const value = waiting.get(file);
      waiting.delete(file);
      try {
        await replace(path, file, JSON.stringify(value));
        log.over(file);
      } catch (error) {
        failed(file, error);
      }
    }
    writing.delete(file);
  }

  return {
    path,
    write(file, value) {
      waiting.set(file, value);
      if (!writing.has(file)) writing.set(file, writeAll(file));
    },
    writeNow(file, value) {
      try {
        replaceNow(path, file, JSON.stringify(value));
        log.over(file);
      } catch (error) {
        failed(file, error);
      }
    },
    remove(file) {
      try {
        unlinkSync(join(path, file));
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') failed(file, error);
      }
    },
    async settled() {
      await Promise.all(writing.values());
    },
  };
}

function temporaryName(path: string, file: StateFile): string {
  return join(path, `.${file}.${randomBytes(4).toString('hex')}.tmp`);
}

async function replace(path: string, file: StateFile, text: string): Promise<void> {
  const temporary = temporaryName(path, file);
  const handle = await open(temporary, NEW_FILE, 0o600);
  try {
    await handle.writeFile(text).finally(() => handle.close());
    await rename(temporary, join(path, file));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

function replaceNow(path: string, file: StateFile, text: string): void {
  const temporary = temporaryName(path, file);
  const descriptor = openSync(temporary, NEW_FILE, 0o600);
  try {
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, join(path, file));
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
  syncDirectory(path);
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What a killed capsule was writing. */
function sweep(path: string): void {
  try {
    for (const name of readdirSync(path)) if (TEMPORARY.test(name)) unlinkSync(join(path, name));
  } catch {
    // Not readable now: the next start sweeps again, and writing reports what is wrong.
  }
}
