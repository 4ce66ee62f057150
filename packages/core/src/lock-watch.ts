import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from './ports.ts';

export interface LockWatch {
  /** Resolves when something happened to the lock since the last call, or after `ms`. Rejects when aborted. */
  next(ms: number, signal: AbortSignal | undefined): Promise<void>;
  close(): void;
}

/**
 * Watches the lock's directory, so that a release is noticed at once. The time limit of `next` covers what gives
 * no such event: the death of the owner, network file systems, a watch the kernel refused.
 */
export function watchLock(path: string, clock: Clock): LockWatch {
  let changed = false;
  let wake = () => {};
  const watcher = tryWatch(path, () => {
    changed = true;
    wake();
  });
  return {
    async next(ms, signal) {
      signal?.throwIfAborted();
      const done = new AbortController();
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
        if (changed) resolve();
      });
      const limit = AbortSignal.any(signal === undefined ? [done.signal] : [done.signal, signal]);
      const timeUp = clock.sleep(ms, limit);
      try {
        await Promise.race([woken, timeUp]);
      } finally {
        changed = false;
        done.abort();
        timeUp.catch(() => {});
      }
    },
    close: () => watcher?.close(),
  };
}

function tryWatch(path: string, onChange: () => void): FSWatcher | null {
  const name = basename(path);
  try {
    const watcher = watch(dirname(path), (_event, file) => {
      if (file === null || file.startsWith(name)) onChange();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
