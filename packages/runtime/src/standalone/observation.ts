import { stat } from 'node:fs/promises';
import { afterAwake } from '@jackin/core';
import type { ContainerFact, InstanceObservation, InstanceRef } from '../backend.ts';
import type { CapsuleProcess } from './find-capsule.ts';

/** A file system that does not answer by then is the session's problem, not that of the look at all instances. */
const STAT_MS = 1_000;

/** Rejects when there is nothing at `path`. */
export type StatOf = (path: string) => Promise<unknown>;

/** A process as the container facts describe it: running, stopped (recorded but dead), or missing (never recorded). */
export async function observationOf(
  ref: InstanceRef,
  found: CapsuleProcess,
  statOf: StatOf = stat,
): Promise<InstanceObservation> {
  return {
    container: await containerFact(ref, found, statOf),
    sidecar: null,
    image: null,
    network: null,
    volume: null,
    leftover_pids: found.state === 'gone' ? found.leftovers.map(({ pid }) => pid) : [],
  };
}

async function containerFact(
  ref: InstanceRef,
  found: CapsuleProcess,
  statOf: StatOf,
): Promise<ContainerFact> {
  const name = ref.container_base;
  switch (found.state) {
    case 'unknown':
      return { state: 'unreachable', reason: found.reason };
    case 'alive':
      return {
        state: 'running',
        name,
        engine_ref: String(found.identity.pid),
        image_id: null,
        oom_flag: null,
        started_run: found.identity.boot_id,
      };
    case 'gone': {
      const recorded = ref.manifest.backend?.standalone;
      if (!recorded) return { state: 'missing' };
      return {
        state: 'stopped',
        name,
        engine_ref: String(recorded.pid),
        image_id: null,
        // Nobody waits for a detached process: its exit code cannot be seen.
        exit_code: null,
        oom_flag: null,
        error: null,
        startable: await startable(ref, statOf),
      };
    }
  }
}

/** Like a bind source that is gone: without its directories and files the session cannot come back. */
async function startable(
  ref: InstanceRef,
  statOf: StatOf,
): Promise<{ ok: true } | { ok: false; reason: string }> {
  for (const { src } of ref.manifest.recipe?.mounts ?? []) {
    const trouble = await troubleWith(src, statOf);
    if (trouble !== null) return { ok: false, reason: `${src} ${trouble}` };
  }
  return { ok: true };
}

/** Null for whatever exists: a mount source may be a file too. */
async function troubleWith(src: string, statOf: StatOf): Promise<string | null> {
  let cancel = (): void => {};
  const hung = new Promise<string>((resolve) => {
    cancel = afterAwake(STAT_MS, () => resolve('does not answer'));
  });
  try {
    return await Promise.race([looked(src, statOf), hung]);
  } finally {
    cancel();
  }
}

/** A hung call keeps a thread of the process: a source that is still being looked at is not asked again. */
const pending = new Map<string, Promise<string | null>>();

function looked(src: string, statOf: StatOf): Promise<string | null> {
  const known = pending.get(src);
  if (known !== undefined) return known;
  const look = statOf(src)
    .then(
      () => null,
      ({ code }: NodeJS.ErrnoException) => `cannot be used: ${code === 'ENOENT' ? 'it is gone' : code}`,
    )
    .finally(() => pending.delete(src));
  pending.set(src, look);
  return look;
}
