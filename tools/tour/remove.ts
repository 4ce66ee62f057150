import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProcessesByEnv } from '@jackin/core';
import { instanceIdOf, openEngine, type TourEngine } from './engine.ts';
import { manifestFile, readManifest } from './manifest.ts';
import { abandonedRoots } from './owner.ts';
import { endAll } from './processes.ts';

/**
 * Ends what a tour started and removes what it made: processes, then what is on the engine, then its directory. Returns
 * what withstood; the directory stays when the engine could not be looked at, so that the next tour can do it.
 */
export async function removeTour(tour: {
  root: string;
  engine: TourEngine | null;
  /** Instances it knew, also those whose directory is gone. */
  seen?: ReadonlySet<string>;
}): Promise<string[]> {
  const { root, engine } = tour;
  const state = join(root, 'state');
  const dirs = [root, ...socketDirsOutside(root, state)];
  const bases = () => [...new Set([...(tour.seen ?? []), ...basesOf(state)])];
  const alive = await endAll(async () => {
    const found = await Promise.all([
      findProcessesByEnv('JACKIN_HOME_DIR', state),
      ...bases().map((base) => findProcessesByEnv('JACKIN_INSTANCE', instanceIdOf(base) ?? base)),
    ]);
    return found.flat();
  });
  const left = alive.map(({ pid }) => `process ${pid}`);
  if (engine !== null) {
    try {
      left.push(...(await engine.sweep({ root, bases: bases() })));
    } catch (error) {
      return [...left, `${root} and what its sessions have on ${engine.endpoint} (${error})`];
    }
  }
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  return [...left, ...dirs.filter((dir) => existsSync(dir))];
}

/** The same for every tour that was killed and could not do it itself. */
export async function removeAbandonedTours(): Promise<{ removed: string[]; left: string[] }> {
  const removed: string[] = [];
  const left: string[] = [];
  for (const { root, engine } of await abandonedRoots()) {
    const withstood = await removeTour({ root, engine: engine === null ? null : openEngine(engine) });
    if (withstood.length === 0) removed.push(root);
    else left.push(...withstood);
  }
  return { removed, left };
}

/** Where a socket's path would have been too long, it lies in a directory of its own that the manifest names. */
function socketDirsOutside(root: string, state: string): string[] {
  return basesOf(state).flatMap((base) => {
    if (!existsSync(manifestFile(state, base))) return [];
    const socket = readManifest(state, base).backend?.standalone?.socket;
    return socket === undefined || socket.startsWith(`${root}/`) ? [] : [dirname(socket)];
  });
}

/** Instances whose directory is there, whatever became of the command that made it. */
function basesOf(state: string): string[] {
  const data = join(state, 'data');
  if (!existsSync(data)) return [];
  return readdirSync(data).filter((name) => instanceIdOf(name) !== null && !name.includes('.lock'));
}
