import { gitWords, succeeded } from '@jackin/core';
import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';

export interface Commit {
  id: string;
  tree: string;
  parents: string[];
}

export interface Ahead {
  /** Commits that are nowhere else, newest first. */
  commits: ReadonlyMap<string, Commit>;
  /** By position in `tips`: the commit it is or leads to, where that is among them. */
  tipCommits: ReadonlyMap<number, string>;
}

export interface AheadQuery {
  /** Object ids; also, in this order, the refs of the shadow. */
  tips: readonly string[];
  /** Commits of which everything they reach is elsewhere. */
  elsewhere: readonly string[];
  /** The same, but they may be gone from the repository meanwhile. */
  atLaunch: readonly string[];
  /** A commit git has to come back with. */
  sentinel: string;
  limit: number;
}

const LINE = /^([0-9a-f]{40,64})\0([0-9a-f]{40,64})\0([0-9a-f ]*)\0(.*)$/;
export const COMMIT_FORMAT = '--format=%H%x00%T%x00%P%x00%D';

/** What the tips reach and nothing else does. @throws Doubt when git cannot tell all of it */
export async function commitsAhead(git: GitCalls, query: AheadQuery): Promise<Ahead> {
  const { tips, elsewhere, atLaunch, sentinel, limit } = query;
  const run = (launch: readonly string[]) =>
    git.try(
      'git rev-list',
      ['rev-list', '--stdin', '--no-commit-header', `--max-count=${limit + 2}`, COMMIT_FORMAT],
      {
        input: Buffer.from(
          [
            ...[...tips, sentinel].map((id) => `${id}^{commit}`),
            ...[...elsewhere, ...launch].map((id) => `^${id}`),
          ]
            .map((line) => `${line}\n`)
            .join(''),
        ),
      },
    );
  let result = await run(atLaunch);
  const present = new Set([...tips, ...elsewhere]);
  const certain = atLaunch.filter((id) => present.has(id));
  if (
    result.exitCode === 128 &&
    /bad object/.test(result.stderr.toString()) &&
    certain.length < atLaunch.length
  ) {
    // What a ref pointed to at launch may have been collected since.
    result = await run(certain);
  }
  if (!succeeded(result) || result.signal !== null)
    throw new Doubt(`git rev-list failed: ${gitWords(result)}`);
  const commits = new Map<string, Commit>();
  const tipCommits = new Map<number, string>();
  for (const { commit, refs } of parseCommits(result.stdout)) {
    commits.set(commit.id, commit);
    for (const name of refs) {
      const at = /^(?:tag: )?refs\/jackin\/(\d{7})$/.exec(name)?.[1];
      if (at !== undefined) tipCommits.set(Number(at), commit.id);
    }
  }
  if (!commits.delete(sentinel)) throw new Doubt('git rev-list did not answer completely');
  if (commits.size > limit) throw new Doubt(`more than ${limit} commits are nowhere else`);
  return { commits, tipCommits };
}

/** Strict: a line that is no commit is a doubt. */
export function parseCommits(output: Buffer): { commit: Commit; refs: string[] }[] {
  const lines = output.toString('latin1').split('\n');
  if (lines.pop() !== '') throw new Doubt('git rev-list answered something else');
  return lines.map((line) => {
    const [, id, tree, parents = '', refs = ''] = LINE.exec(line) ?? [];
    if (id === undefined || tree === undefined) throw new Doubt('git rev-list answered something else');
    const commit = { id, tree, parents: parents.split(' ').filter((parent) => parent !== '') };
    return { commit, refs: refs.split(', ') };
  });
}

/** All of `commits` that `start` reaches, itself included. */
export function reachable(commits: ReadonlyMap<string, Commit>, starts: Iterable<string>): Set<string> {
  const seen = new Set<string>();
  const waiting = [...starts];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const commit = seen.has(id) ? undefined : commits.get(id);
    if (commit === undefined) continue;
    seen.add(id);
    waiting.push(...commit.parents);
  }
  return seen;
}
