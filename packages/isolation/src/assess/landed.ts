import { succeeded } from '@jackin/core';
import type { Landed } from '../types.ts';
import { COMMIT_FORMAT, type Commit, parseCommits, reachable } from './commits.ts';
import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import type { AssessLimits } from './limits.ts';
import { patchId, sections } from './patch.ts';

export interface LandedQuery {
  /** Commits that are nowhere else. */
  ahead: ReadonlyMap<string, Commit>;
  /** Commits among them whose history is to be proven. */
  tips: readonly string[];
  /** Commits of remote-tracking refs. */
  remote: readonly string[];
  limits: AssessLimits;
  /** Git processes that may still be used. */
  processes: number;
}

interface Range {
  tip: Commit;
  /** All of it, the tip included. */
  commits: Commit[];
  /** What it grew from. */
  bases: string[];
}

const MAX_TIPS = 100;
const MAX_OWN_COMMITS = 500;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Which tips are on a remote in another form: squashed, rebased or picked. Only what is proven is in the answer; a git
 * that fails proves nothing.
 */
export async function provenLanded(git: GitCalls, query: LandedQuery): Promise<Map<string, Landed>> {
  const { remote, limits } = query;
  const ranges = rangesOf(query).slice(0, MAX_TIPS);
  if (ranges.length === 0 || remote.length === 0) return new Map();
  try {
    const bases = [...new Set(ranges.flatMap((range) => range.bases))];
    const needed = bases.length > 1 ? 3 : 2;
    if (query.processes < needed) return new Map();
    const since = await commonBase(git, bases);
    const theirs = await remoteCommits(git, [...remote, ...bases], since, limits);
    if (theirs === null) return new Map();
    return await compare(git, ranges, theirs, remote);
  } catch (error) {
    if (error instanceof Doubt) return new Map();
    throw error;
  }
}

function rangesOf({ ahead, tips }: LandedQuery): Range[] {
  return [...new Set(tips)].flatMap((id): Range[] => {
    const tip = ahead.get(id);
    if (tip === undefined) return [];
    const commits = [...reachable(ahead, [id])].flatMap((one) => ahead.get(one) ?? []);
    const bases = new Set(commits.flatMap(({ parents }) => parents.filter((parent) => !ahead.has(parent))));
    // History without a beginning of its own was never cut from what a remote has.
    return bases.size === 0 ? [] : [{ tip, commits, bases: [...bases] }];
  });
}

/** A commit all bases have behind them; null without one. */
async function commonBase(git: GitCalls, bases: readonly string[]): Promise<string | null> {
  const [only] = bases;
  if (bases.length === 1 && only !== undefined) return only;
  const result = await git.try('git merge-base', ['merge-base', '--octopus', ...bases]);
  const id = result.stdout.toString('latin1').trim();
  return succeeded(result) && /^[0-9a-f]{40,64}$/.test(id) ? id : null;
}

/** Null when there are too many. All that lies between `since` and the tips is there, so that descent can be told. */
async function remoteCommits(
  git: GitCalls,
  tips: readonly string[],
  since: string | null,
  { remoteCommits: limit }: AssessLimits,
): Promise<Map<string, Commit> | null> {
  const lines = [...new Set(tips)].map((id) => `${id}\n`).join('') + (since === null ? '' : `^${since}\n`);
  const args = ['rev-list', '--stdin', '--no-commit-header', `--max-count=${limit + 1}`, COMMIT_FORMAT];
  const output = await git.run('git rev-list', args, { input: Buffer.from(lines) });
  const commits = parseCommits(output).map(({ commit }) => commit);
  return commits.length > limit ? null : new Map(commits.map((commit) => [commit.id, commit]));
}

async function compare(
  git: GitCalls,
  ranges: readonly Range[],
  listed: ReadonlyMap<string, Commit>,
  remote: readonly string[],
): Promise<Map<string, Landed>> {
  const reachedByRemote = reachable(listed, remote);
  const theirs = [...listed.values()].filter(({ id }) => reachedByRemote.has(id));
  const diffs = await patches(git, ranges, theirs);
  if (diffs === null) return new Map();
  const landed = new Map<string, Landed>();
  for (const range of ranges) {
    const before = reachable(listed, range.bases);
    const later = theirs.filter(({ id }) => !before.has(id) && !range.bases.includes(id));
    const proof =
      sameTree(range, later, diffs) ?? samePatch(range, later, diffs) ?? samePatches(range, later, diffs);
    if (proof !== null) landed.set(range.tip.id, proof);
  }
  return landed;
}

type Patches = (title: string) => string | null;

/** One process for all of them: ranges against each of their bases, and single commits. Null when it fails. */
async function patches(
  git: GitCalls,
  ranges: readonly Range[],
  theirs: readonly Commit[],
): Promise<Patches | null> {
  const own = new Map(ranges.flatMap(({ commits }) => commits.map((commit) => [commit.id, commit] as const)));
  const singles = [...(own.size > MAX_OWN_COMMITS ? [] : own.values()), ...theirs].filter(
    ({ parents }) => parents.length === 1,
  );
  const lines = [
    ...ranges.flatMap(({ tip, bases }) => bases.map((base) => `${tip.id} ${base}`)),
    ...new Set(singles.map(({ id, parents }) => `${id} ${parents[0]}`)),
  ];
  const args = ['diff-tree', '--stdin', '--always', '-r', '-p', '--binary', '--full-index', '--no-renames'];
  const result = await git.try('git diff-tree', [...args, '--no-color', '--no-ext-diff', '--no-textconv'], {
    input: Buffer.from(lines.map((line) => `${line}\n`).join('')),
    maxOutputBytes: OUTPUT_BYTES,
  });
  if (!succeeded(result) || result.signal !== null) return null;
  const parts = sections(
    result.stdout.toString('latin1'),
    lines.map((line) => line.slice(0, line.indexOf(' '))),
  );
  if (parts === null) return null;
  const ids = new Map(parts.map(({ diff }, at) => [lines[at] ?? '', patchId(diff)]));
  return (line) => ids.get(line) ?? null;
}

/** A remote has exactly these files, and they are not those it had before. */
function sameTree({ tip, bases }: Range, later: readonly Commit[], diffs: Patches): Landed | null {
  if (bases.some((base) => diffs(`${tip.id} ${base}`) === null)) return null;
  const found = later.find(({ tree }) => tree === tip.tree);
  return found === undefined ? null : { how: 'tree', commit: found.id };
}

function samePatch({ tip, bases }: Range, later: readonly Commit[], diffs: Patches): Landed | null {
  const whole = new Set(bases.flatMap((base) => diffs(`${tip.id} ${base}`) ?? []));
  const found = later.find((commit) => {
    const patch = commit.parents.length === 1 ? diffs(single(commit)) : null;
    return patch !== null && whole.has(patch);
  });
  return found === undefined ? null : { how: 'patch', commit: found.id };
}

/** Each commit of the range; one that merges or changes nothing has no patch that could be compared. */
function samePatches({ tip, commits }: Range, later: readonly Commit[], diffs: Patches): Landed | null {
  const byPatch = new Map(
    later.flatMap((commit) => {
      const patch = commit.parents.length === 1 ? diffs(single(commit)) : null;
      return patch === null ? [] : [[patch, commit.id] as const];
    }),
  );
  const found = commits.map((commit) => {
    const patch = commit.parents.length === 1 ? diffs(single(commit)) : null;
    return patch === null ? undefined : byPatch.get(patch);
  });
  if (found.some((id) => id === undefined)) return null;
  const last = found[commits.findIndex(({ id }) => id === tip.id)];
  return last === undefined ? null : { how: 'patch', commit: last };
}

function single({ id, parents }: Commit): string {
  return `${id} ${parents[0]}`;
}
