import { lstat } from 'node:fs/promises';
import { acquireLock, fileSystemError, removeTree } from '@jackin/core';
import type { Handler, StepOutcome } from './ports.ts';

/** The manifest goes last, so that an interrupted removal still shows the instance. */
export const removeDataDir: Handler<'remove_data_dir'> = async (_step, { ports, base }) => {
  const { dir } = ports.paths.instance(base);
  if (!(await exists(dir))) return gone();
  await removeTree(dir, { inside: ports.paths.dataDir, last: ['.jackin/instance.json'] });
  return { state: 'done' };
};

export const removeSocketDir: Handler<'remove_socket_dir'> = async (_step, { ports, base }) => {
  const { sockets } = ports.paths.instance(base);
  if (!(await exists(sockets))) return gone();
  await removeTree(sockets, { inside: ports.paths.socketsDir });
  return { state: 'done' };
};

/** Gives the lock back with its file. Held by somebody else it is left alone: LOCK_HELD. */
export const removeLock: Handler<'remove_lock'> = async (_step, context) => {
  const { ports, base } = context;
  const path = ports.paths.instance(base).lock;
  if (ports.lock?.path === path) {
    context.lockReleased();
    await ports.lock.release({ remove: true });
    return { state: 'done' };
  }
  if (!(await exists(path))) return gone();
  const lock = await acquireLock(path, {
    purpose: 'remove the lock',
    locksDb: ports.paths.locksDb,
    waitMs: 0,
    events: ports.events,
    clock: ports.clock,
  });
  await lock.release({ remove: true });
  return { state: 'done' };
};

export const removeIndexRow: Handler<'remove_index_row'> = async (_step, { ports, base }) => {
  await ports.store.removeRow(base);
  return { state: 'done' };
};

function gone(): StepOutcome {
  return { state: 'skipped', detail: 'it is gone already' };
}

/** Throws STATE_NOT_READABLE: what cannot be looked at is not "gone". */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw fileSystemError(error, path, 'read');
  }
}
