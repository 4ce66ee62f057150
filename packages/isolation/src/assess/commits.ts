import { gitWords, type RunResult, succeeded } from '@jackin/core';
import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import { type ObjectTypes, objectTypes, type TypedObject } from './object-types.ts';

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
  /** By position in `tips`; null where nobody had to ask: all of them lead to commits then. */
  types: readonly TypedObject[] | null;
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
  /** Also ask what the tips are, not only when one of them is no commit. */
  typed: boolean;
  /** Positions in `tips` of ids that may be somebody's data: one of no object is none. */
  maybeIds: ReadonlySet<number>;
}

const LINE = /^([0-9a-f]{40,64})\0([0-9a-f]{40,64})\0([0-9a-f ]*)\0(.*)$/;
export const COMMIT_FORMAT = '--format=%H%x00%T%x00%P%x00%D';

/** What the tips reach and nothing else does. @throws Doubt when git cannot tell all of it */
export async function commitsAhead(git: GitCalls, query: AheadQuery): Promise<Ahead> {
  const { tips, sentinel, limit } = query;
  const ask = () => objectTypes(git, { tips, mayBeGone: query.atLaunch, sentinel });
  let types = query.typed ? await ask() : null;
  let result = await list(git, query, types);
  if (types === null && result.exitCode === 128 && result.signal === null) {
    // A ref may be of something that is no commit, and what one pointed to at launch may have been collected since.
    types = await ask();
    const found = types;
    const others = found.tips.some((_, at) => !leadsToCommit(query, found, at));
    if (found.missing.size > 0 || others) result = await list(git, query, found);
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
  return { commits, tipCommits, types: types?.tips ?? null };
}

function list(git: GitCalls, query: AheadQuery, types: ObjectTypes | null): Promise<RunResult> {
  const { tips, elsewhere, atLaunch, sentinel, limit } = query;
  const known = new Set([...tips, ...elsewhere]);
  const lines = [
    ...tips.filter((_, at) => leadsToCommit(query, types, at)).map((id) => `${id}^{commit}`),
    `${sentinel}^{commit}`,
    ...elsewhere.map((id) => `^${id}`),
    ...atLaunch.filter((id) => known.has(id) || types?.missing.has(id) !== true).map((id) => `^${id}`),
  ];
  return git.try(
    'git rev-list',
    ['rev-list', '--stdin', '--no-commit-header', `--max-count=${limit + 2}`, COMMIT_FORMAT],
    { input: Buffer.from(lines.map((line) => `${line}\n`).join('')) },
  );
}

/** By any number of tags. What is missing git refuses by itself. */
function leadsToCommit({ maybeIds }: AheadQuery, types: ObjectTypes | null, at: number): boolean {
  const object = types?.tips[at];
  if (object?.type === 'missing') return !maybeIds.has(at);
  return object?.target.type !== 'blob' && object?.target.type !== 'tree';
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
