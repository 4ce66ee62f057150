import { randomBytes } from 'node:crypto';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type EventSink,
  ensurePrivateDir,
  fileSystemError,
  gitWords,
  hardenedGit,
  JackinError,
  removeTree,
  sshWithoutQuestions,
  succeeded,
  syncDirectory,
  toJackinError,
} from '@jackin/core';
import { exportTree } from './export-tree.ts';
import type { GitSource } from './git-source.ts';
import { exportedTree, type RepositoryPlace } from './repository-place.ts';

const ASK_MS = 30_000;
const FETCH_MS = 5 * 60_000;
const LOCAL_MS = 30_000;
const WORK = /^work-\d+-[0-9a-f]{8}$/;

export interface Remote {
  /** The commit a branch is at now; null: the repository's default branch. */
  commitOf(branch: string | null): Promise<string>;
  /** Its files in a directory that is never changed again; fetched unless they are there. */
  tree(commit: string): Promise<string>;
}

export interface RemoteOptions {
  events: EventSink;
  signal?: AbortSignal | undefined;
  env?: NodeJS.ProcessEnv | undefined;
}

/**
 * Opens a repository for one refresh, under its lock. Everything fetched goes into a working directory of this call and
 * away again with it: what is cached are whole exported commits, so a kill at any moment leaves none that is half.
 * @throws JackinError `ROLE_UNAVAILABLE` in git's words, `GIT_MISSING`, and what `fn` throws
 */
export async function withRemote<T>(
  git: GitSource,
  place: RepositoryPlace,
  options: RemoteOptions,
  fn: (remote: Remote) => Promise<T>,
): Promise<T> {
  await ensurePrivateDir(place.trees);
  await sweep(place, options.events);
  const work = join(place.dir, `work-${process.pid}-${randomBytes(4).toString('hex')}`);
  await ensurePrivateDir(work);
  try {
    return await fn(createRemote(git, place, work, options));
  } finally {
    await discard(work, place, options.events);
  }
}

function createRemote(git: GitSource, place: RepositoryPlace, work: string, options: RemoteOptions): Remote {
  const { url } = git;
  const { events, signal, env } = options;
  const empty = emptyRepositories(git, work, options);
  const fetch = async (commit: string): Promise<string> => {
    const { gitDir, ssh } = await empty(commit.length === 64 ? 'sha256' : 'sha1');
    const run = (what: string, args: string[], timeoutMs: number) =>
      runGit(git, options, { what, gitDir, args, timeoutMs });
    const get = (args: string[]) =>
      run('it cannot be fetched', [...ssh, 'fetch', '--quiet', '--no-tags', ...args], FETCH_MS);
    try {
      await get(['--depth=1', '--', url, commit]);
    } catch (error) {
      signal?.throwIfAborted();
      // Not every server gives out a commit by its name; then all branches are fetched, and it is among them or gone.
      await get(['--', url, '+refs/heads/*:refs/heads/*']).catch(() => {
        throw error;
      });
    }
    await run(`it has no commit ${commit}`, ['cat-file', '-e', `${commit}^{commit}`], LOCAL_MS);
    return gitDir;
  };
  return {
    async commitOf(branch) {
      const { gitDir, ssh } = await empty('sha1');
      const ref = branch === null ? 'HEAD' : `refs/heads/${branch}`;
      const args = [...ssh, 'ls-remote', '--', url, ref];
      const listed = await runGit(git, options, {
        what: 'it cannot be asked',
        gitDir,
        args,
        timeoutMs: ASK_MS,
      });
      const found = listed
        .split('\n')
        .map((line) => /^([0-9a-f]{40}|[0-9a-f]{64})\t(.+)$/.exec(line))
        .find((match) => match?.[2] === ref)?.[1];
      if (found !== undefined) return found;
      throw unavailable(url, branch === null ? 'it has no commit yet' : `it has no branch ${branch}`);
    },
    async tree(commit) {
      const known = await exportedTree(place, commit);
      if (known !== null) return known;
      const gitDir = await fetch(commit);
      const target = join(work, 'tree');
      await exportTree({ gitDir, commit, target, repository: url, events, signal, env });
      const dir = join(place.trees, commit);
      try {
        await rename(target, dir);
        await syncDirectory(place.trees);
      } catch (error) {
        throw fileSystemError(error, dir, 'write');
      }
      return dir;
    },
  };
}

interface EmptyRepository {
  gitDir: string;
  /** Options that keep ssh from asking. */
  ssh: string[];
}

/** Repositories of ours to ask and fetch from: what the current directory's says must not count. */
function emptyRepositories(git: GitSource, work: string, options: RemoteOptions) {
  const made = new Map<string, Promise<EmptyRepository>>();
  const make = async (format: 'sha1' | 'sha256'): Promise<EmptyRepository> => {
    const gitDir = join(work, `${format}.git`);
    const args = [
      'init',
      '--quiet',
      '--bare',
      '--template=',
      ...(format === 'sha1' ? [] : ['--object-format=sha256']),
    ];
    await runGit(git, options, { what: 'it cannot be prepared', gitDir, args, timeoutMs: LOCAL_MS });
    if (git.transport !== 'ssh') return { gitDir, ssh: [] };
    const ask = ['config', '--get', 'core.sshCommand'];
    const answer = await hardenedGit(ask, { ...options, gitDir, timeoutMs: LOCAL_MS });
    const command = succeeded(answer) ? answer.stdout.toString('utf8').trim() : '';
    return { gitDir, ssh: ['-c', `core.sshCommand=${sshWithoutQuestions(command === '' ? null : command)}`] };
  };
  return (format: 'sha1' | 'sha256') => {
    const known = made.get(format) ?? make(format);
    made.set(format, known);
    return known;
  };
}

async function runGit(
  { url }: GitSource,
  { signal, env }: RemoteOptions,
  call: { what: string; gitDir: string; args: string[]; timeoutMs: number },
): Promise<string> {
  const { what, gitDir, args, timeoutMs } = call;
  const result = await hardenedGit(args, { gitDir, timeoutMs, signal, env });
  if (!succeeded(result)) throw unavailable(url, `${what}: ${gitWords(result)}`);
  return result.stdout.toString('utf8');
}

export function unavailable(url: string, reason: string): JackinError {
  return new JackinError({
    code: 'ROLE_UNAVAILABLE',
    message: `The repository ${url} cannot be used: ${reason}.`,
    hint: `See what git says yourself: git ls-remote ${url} - correct [roles.<key>] git in config.toml if it is not the right one.`,
    details: { git: url, reason },
  });
}

/** Nobody else works here while the lock is held: what is there was left by a process that was killed. */
async function sweep(place: RepositoryPlace, events: EventSink): Promise<void> {
  const names = await readdir(place.dir).catch(() => []);
  for (const name of names.filter((one) => WORK.test(one)))
    await discard(join(place.dir, name), place, events);
}

/** What stays is rubbish the next refresh removes: a git whose parent was killed may still write into it. */
async function discard(work: string, place: RepositoryPlace, events: EventSink): Promise<void> {
  try {
    await removeTree(work, { inside: place.dir });
  } catch (thrown) {
    const { code, message } = toJackinError(thrown);
    events({ type: 'debug', message: `a working directory stays for now: ${message}`, fields: { code } });
  }
}
