import { stat } from 'node:fs/promises';
import { afterAwake } from '@jackin/core';
import type { InstanceRef, Startable } from '../backend.ts';

/** A file system that does not answer by then is the session's problem, not that of the look at all instances. */
const STAT_MS = 1_000;

const GONE = 'cannot be used: it is gone';

/** Rejects when there is nothing at `path`. */
export type StatOf = (path: string) => Promise<unknown>;

/**
 * Without its directories and files a session cannot come back: the first mount source of the recipe that cannot be used
 * is named. A source that does not answer within a second counts as one.
 * @param options.onlyMissing only one that is provably gone counts: another user, the engine's, may see more than we do
 */
export async function mountSources(
  ref: InstanceRef,
  statOf: StatOf = stat,
  options: { onlyMissing?: boolean } = {},
): Promise<Startable> {
  for (const { src, isolation } of ref.manifest.recipe?.mounts ?? []) {
    // It lives in a tree of its own: what became of that, and of its repository, is told apart (docs/isolation.md#divergence).
    if (isolation !== 'shared') continue;
    const trouble = await troubleWith(src, statOf);
    if (trouble === null || (options.onlyMissing === true && trouble !== GONE)) continue;
    return { ok: false, reason: `${src} ${trouble}`, anew: true };
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
      ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? GONE : `cannot be used: ${code}`),
    )
    .finally(() => pending.delete(src));
  pending.set(src, look);
  return look;
}
