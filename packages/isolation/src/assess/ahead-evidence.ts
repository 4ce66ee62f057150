import type { BranchEvidence, HeadEvidence, Landed, StashEvidence } from '../types.ts';
import { type Ahead, commitsAhead, reachable } from './commits.ts';
import type { RepositoryConfig } from './config.ts';
import { Doubt } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import { provenLanded } from './landed.ts';
import type { AssessLimits } from './limits.ts';
import { lostObjects } from './lost-objects.ts';
import { byName, text } from './names.ts';
import type { HeadHistory, StashEntry } from './reflog.ts';
import { type Refs, shownRef } from './refs.ts';
import { upstreamOf } from './remotes.ts';
import { isBesideRefs, type Tip } from './tips.ts';

export interface AheadFacts {
  git: GitCalls;
  /** Of the refs that count, the stash entries that count, and HEAD, in this order. */
  ids: readonly string[];
  tips: { refs: readonly Tip[]; stash: readonly StashEntry[] };
  refs: Refs;
  config: RepositoryConfig;
  history: HeadHistory | null;
  scratchBranch: string | null;
  /** Commits of remote-tracking refs that prove something. */
  remote: readonly string[];
  /** Commits that are known to be elsewhere, and have to be there. */
  known: readonly string[];
  atLaunch: readonly string[];
  /** Whether the tips have to be looked at one by one. */
  typed: boolean;
  /** Ids of objects that are known to be elsewhere; asked for only where it matters. */
  held: () => ReadonlySet<string>;
  sentinel: string;
  limits: AssessLimits;
}

export interface AheadEvidence {
  head: HeadEvidence;
  branches: BranchEvidence[];
  stashes: StashEvidence[];
}

/** All processes one tree may use; what proves that work landed uses those that are left. */
const MAX_PROCESSES = 8;

interface Line {
  tip: Tip;
  commit: string;
  reached: Set<string>;
}

/** Commits that are nowhere else. @throws Doubt */
export function commitsOf({
  git,
  ids,
  tips,
  remote,
  known,
  atLaunch,
  typed,
  sentinel,
  limits,
}: AheadFacts): Promise<Ahead> {
  const elsewhere = [...remote, ...known];
  const beside = tips.refs.flatMap(({ name }, at) => (isBesideRefs(name) ? [at] : []));
  return commitsAhead(git, {
    ...{ tips: ids, elsewhere, atLaunch, typed, sentinel },
    limit: limits.commits,
    maybeIds: new Set(beside),
  });
}

/**
 * The same by the refs that lead to them, with those that landed; to be called when all other processes ended.
 * @throws Doubt when commits are left that nothing seems to lead to
 */
export async function aheadEvidence(facts: AheadFacts, ahead: Ahead): Promise<AheadEvidence> {
  const { git, tips, refs, remote, limits } = facts;
  const { ours, others } = linesOf(facts, ahead);
  const onRefs = new Set(ours.flatMap(({ reached }) => [...reached]));
  const detached = refs.head.ref === null && refs.head.commit !== null ? [refs.head.commit] : [];
  const fromHead = reachable(ahead.commits, detached);
  const stashes = tips.stash.filter(({ commit }) => ahead.commits.has(commit));
  const fromStash = reachable(
    ahead.commits,
    stashes.map(({ commit }) => commit),
  );
  const fromOthers = new Set(others.flatMap(({ reached }) => [...reached]));
  const told = [onRefs, fromHead, fromStash, fromOthers];
  if ([...ahead.commits.keys()].some((id) => !told.some((some) => some.has(id)))) {
    throw new Doubt('git rev-list told of commits no ref leads to');
  }
  const headAhead = [...fromHead].filter((id) => !onRefs.has(id)).length;
  const landed = await provenLanded(git, {
    ahead: ahead.commits,
    tips: [...ours.map(({ commit }) => commit), ...(headAhead > 0 ? detached : [])],
    remote,
    limits,
    processes: MAX_PROCESSES - git.count(),
  });
  return {
    head: headEvidence(facts, headAhead, landed),
    branches: branchesOf(facts, ahead, ours, landed),
    stashes,
  };
}

/** A detached HEAD is its own; the branch it is on is a ref that counts. */
function linesOf({ tips, history, ids, refs }: AheadFacts, ahead: Ahead): { ours: Line[]; others: Line[] } {
  const counted: [Tip, number][] = tips.refs.map((tip, at) => [tip, at]);
  const { ref, commit } = refs.head;
  const headCounts = ref !== null && commit !== null && !tips.refs.some(({ name }) => name === ref);
  if (headCounts) counted.push([{ name: ref, id: commit }, ids.length - 1]);
  const lines = counted.flatMap(([tip, at]): Line[] => {
    const found = ahead.commits.has(tip.id) ? tip.id : ahead.tipCommits.get(at);
    return found === undefined ? [] : [{ tip, commit: found, reached: reachable(ahead.commits, [found]) }];
  });
  const isOurs = ({ tip, commit: at }: Line) =>
    tip.onlyIfVisited !== true || history?.commits.has(at) === true;
  return {
    ours: lines.filter(isOurs).sort((a, b) => byName(a.tip.name, b.tip.name)),
    others: lines.filter((line) => !isOurs(line)),
  };
}

/** Refs with commits that are nowhere else, and those of other objects that are. */
function branchesOf(
  facts: AheadFacts,
  { types }: Ahead,
  ours: readonly Line[],
  landed: ReadonlyMap<string, Landed>,
): BranchEvidence[] {
  const lines = ours.map((line) => ({
    name: line.tip.name,
    evidence: branchEvidence(facts, line, landed.get(line.commit)),
  }));
  // Told by its commits already, unless these are elsewhere in another form.
  const told = new Set(lines.flatMap(({ name, evidence }) => (evidence.landed === undefined ? [name] : [])));
  const lost = (types === null ? [] : lostObjects(facts.tips.refs, types, facts.held())).filter(
    ({ tip }) => !told.has(tip.name),
  );
  const names = new Set(lost.map(({ tip }) => tip.name));
  return [
    ...lines.filter(({ name }) => !names.has(name)),
    ...lost.map(({ tip: { name, id }, type }) => ({
      name,
      evidence: { ...named(name), commit: id, ahead: 0, upstream: null, object: type },
    })),
  ]
    .sort((a, b) => byName(a.name, b.name))
    .map(({ evidence }) => evidence);
}

function named(name: string): Pick<BranchEvidence, 'name' | 'outside_refs'> {
  return { name: shownRef(name), ...(name.startsWith('refs/') ? {} : { outside_refs: true }) };
}

function branchEvidence(
  { config, refs }: AheadFacts,
  line: Line,
  landed: Landed | undefined,
): BranchEvidence {
  const { tip, commit, reached } = line;
  const short = /^refs\/heads\/(.+)$/s.exec(tip.name)?.[1];
  const upstream = short === undefined ? null : upstreamOf(short, config.settings, refs.all);
  return {
    ...named(tip.name),
    commit,
    ahead: reached.size,
    upstream: upstream?.name ?? null,
    ...(upstream?.gone === true ? { upstream_gone: true } : {}),
    ...(landed === undefined ? {} : { landed }),
  };
}

function headEvidence(
  { refs, scratchBranch }: AheadFacts,
  ahead: number,
  landed: ReadonlyMap<string, Landed>,
): HeadEvidence {
  const { ref, commit } = refs.head;
  const proof = commit === null || ahead === 0 ? undefined : landed.get(commit);
  const own = [...refs.all].find(([name]) => text(name) === `refs/heads/${scratchBranch}`);
  return {
    commit,
    branch: ref === null ? null : shownRef(ref),
    ahead,
    ...(proof === undefined ? {} : { landed: proof }),
    ...(own === undefined || scratchBranch === null || own[1] === commit
      ? {}
      : { differs_from: { branch: scratchBranch, commit: own[1] } }),
  };
}
