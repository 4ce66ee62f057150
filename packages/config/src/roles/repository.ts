import {
  acquireLock,
  type Clock,
  type EventSink,
  giveBack,
  JackinError,
  type JackinPaths,
} from '@jackin/core';
import { type Remote, unavailable, withRemote } from './fetch-commit.ts';
import type { GitSource } from './git-source.ts';
import {
  exportedTree,
  type RepositoryState,
  readRepositoryState,
  repositoryPlace,
  writeRepositoryState,
} from './repository-place.ts';

export interface RepositoryOptions {
  paths: Pick<JackinPaths, 'rolesDir' | 'locksDb'>;
  clock: Clock;
  events: EventSink;
  signal?: AbortSignal | undefined;
  /** What git runs in; default: the environment of this process. */
  env?: NodeJS.ProcessEnv | undefined;
}

export interface Checkout {
  commit: string;
  /** The files of that commit, which nothing changes any more. */
  dir: string;
}

/** As long as another process may take for the same thing; less where there is something to use instead. */
const LOCK_MS = 6 * 60_000;
const LOCK_WITH_CACHE_MS = 60_000;

/**
 * The newest commit of a repository's branch (docs/roles.md#repositories). It is asked for when the last answer is
 * older than `ttlSeconds`; two processes that want it at once ask once. When it cannot be asked, the commit of the last
 * answer is used, with a notice.
 * @throws JackinError `ROLE_UNAVAILABLE` when there is none yet, `ROLE_INVALID`, `GIT_MISSING`, `LOCK_HELD`
 */
export async function refreshRepository(
  git: GitSource,
  branch: string | null,
  options: RepositoryOptions & { ttlSeconds: number },
): Promise<Checkout> {
  const { clock, ttlSeconds, paths } = options;
  const place = repositoryPlace(paths, git);
  const before = await cachedCheckout(git, branch, paths);
  if (before !== null && isFresh(before.checkedAt, ttlSeconds, clock)) return checkoutOf(before);
  try {
    const waitMs = before === null ? LOCK_MS : LOCK_WITH_CACHE_MS;
    return await underLock(git, options, waitMs, async () => {
      // Whoever held the lock may have asked since.
      const now = await cachedCheckout(git, branch, paths);
      if (now !== null && now.checkedAt !== before?.checkedAt) return checkoutOf(now);
      const checkout = await fetching(git, options, async (remote) => {
        const commit = await remote.commitOf(branch);
        return { commit, dir: await remote.tree(commit) };
      });
      const state = await readRepositoryState(place, git);
      const entry = { commit: checkout.commit, checked_at: clock.now().toISOString() };
      await writeRepositoryState(place, { ...state, refs: { ...state.refs, [branch ?? 'HEAD']: entry } });
      return checkout;
    });
  } catch (error) {
    const cached = usable(error) ? await cachedCheckout(git, branch, paths) : null;
    if (cached === null) throw error;
    options.events({
      type: 'notice',
      level: 'warn',
      code: 'ROLE_NOT_REFRESHED',
      message: `${(error as Error).message} Its commit ${cached.commit.slice(0, 7)} of ${cached.checkedAt} is used.`,
    });
    return checkoutOf(cached);
  }
}

/** The commit of the last answer, however old; null when there never was one. Asks nobody and writes nothing. */
export async function cachedCheckout(
  git: GitSource,
  branch: string | null,
  paths: Pick<JackinPaths, 'rolesDir'>,
): Promise<(Checkout & { checkedAt: string }) | null> {
  const place = repositoryPlace(paths, git);
  const entry = entryOf(await readRepositoryState(place, git), branch);
  if (entry === null) return null;
  const dir = await exportedTree(place, entry.commit);
  return dir === null ? null : { commit: entry.commit, dir, checkedAt: entry.checked_at };
}

/**
 * The files of exactly this commit, fetched if they are not there; never those of another one.
 * @throws JackinError `ROLE_UNAVAILABLE`, `ROLE_INVALID`, `GIT_MISSING`, `LOCK_HELD`
 */
export async function checkoutCommit(
  git: GitSource,
  commit: string,
  options: RepositoryOptions,
): Promise<string> {
  const known = await exportedTree(repositoryPlace(options.paths, git), commit);
  if (known !== null) return known;
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) {
    throw unavailable(git.url, `${JSON.stringify(commit)} is no commit`);
  }
  return underLock(git, options, LOCK_MS, () => fetching(git, options, (remote) => remote.tree(commit)));
}

/** An answer from the future was written by a clock that was wrong. */
function isFresh(checkedAt: string, ttlSeconds: number, clock: Clock): boolean {
  const ageMs = clock.now().getTime() - Date.parse(checkedAt);
  return ageMs >= 0 && ageMs < ttlSeconds * 1000;
}

function checkoutOf({ commit, dir }: Checkout): Checkout {
  return { commit, dir };
}

async function underLock<T>(
  git: GitSource,
  options: RepositoryOptions,
  waitMs: number,
  fn: () => Promise<T>,
): Promise<T> {
  const { paths, clock, events, signal } = options;
  const lock = await acquireLock(repositoryPlace(paths, git).lock, {
    purpose: `refresh the role repository ${git.url}`,
    locksDb: paths.locksDb,
    waitMs,
    clock,
    events,
    ...(signal === undefined ? {} : { signal }),
  });
  try {
    return await fn();
  } finally {
    await giveBack(lock, events);
  }
}

async function fetching<T>(
  git: GitSource,
  options: RepositoryOptions,
  fn: (remote: Remote) => Promise<T>,
): Promise<T> {
  const { clock, events } = options;
  const startedMs = clock.monotonicMs();
  const stage = 'role';
  events({ type: 'stage', stage, state: 'started', detail: git.url });
  try {
    const result = await withRemote(git, repositoryPlace(options.paths, git), options, fn);
    events({ type: 'stage', stage, state: 'done', elapsed_ms: Math.round(clock.monotonicMs() - startedMs) });
    return result;
  } catch (error) {
    events({ type: 'stage', stage, state: 'failed', detail: (error as Error).message });
    throw error;
  }
}

/** What keeps a repository from being asked, as opposed to what is wrong with what it answered. */
function usable(error: unknown): boolean {
  return (
    error instanceof JackinError &&
    ['ROLE_UNAVAILABLE', 'GIT_MISSING', 'LOCK_HELD', 'LOCK_UNKNOWN_OWNER'].includes(error.code)
  );
}

function entryOf({ refs }: RepositoryState, branch: string | null) {
  const name = branch ?? 'HEAD';
  return Object.hasOwn(refs, name) ? (refs[name] ?? null) : null;
}
