import { countedGit } from '../git-runner.ts';
import type { Assessment, Evidence, NestedEvidence } from '../types.ts';
import { type AheadFacts, aheadEvidence, commitsOf } from './ahead-evidence.ts';
import type { Ahead } from './commits.ts';
import { type RepositoryConfig, readConfig } from './config.ts';
import { type Context, NO_REFERENCE, type Reference } from './context.ts';
import { Doubt, noting, notingAsync } from './doubt.ts';
import { type GitCalls, gitCalls } from './git-calls.ts';
import type { Repository } from './git-directory.ts';
import { nothingIgnored } from './ignored.ts';
import { heldElsewhere } from './lost-objects.ts';
import { fileName } from './names.ts';
import { type Found, sharesRepository } from './nested.ts';
import { objectDirectory } from './objects.ts';
import { indexLockAgeMs, operationsInProgress } from './operations.ts';
import { readHeadHistory, readStash } from './reflog.ts';
import { type Refs, readRefs } from './refs.ts';
import { elsewhere, remotesElsewhere } from './remotes.ts';
import { fillShadow, makeShadow, plantCommit, type Shadow } from './shadow.ts';
import { stampsOf } from './stamps.ts';
import { strayWorktrees } from './stray-worktrees.ts';
import { commitsAtLaunch, isBesideRefs, tipsThatCount } from './tips.ts';
import { type TreeEvidence, treeEvidence } from './tree-evidence.ts';
import { decideVerdict, fingerprint } from './verdict.ts';
import { walk } from './walk.ts';

/** Assesses a repository that was opened, with those inside of it. */
export async function assessRepository(
  repository: Repository,
  reference: Reference,
  context: Context,
): Promise<Assessment> {
  const counted = countedGit(context.git);
  const shadow = makeShadow();
  const doubts: string[] = [];
  let evidence: Evidence | null = null;
  try {
    const git = gitCalls(counted, { gitDir: shadow.dir, workTree: repository.tree }, context);
    evidence = await collect({ repository, reference, context, shadow, git, doubts });
  } catch (error) {
    if (!(error instanceof Doubt)) throw error;
    doubts.push(error.message);
  } finally {
    shadow.remove();
  }
  const path = repository.tree ?? repository.gitDir;
  const { kind } = repository;
  const decided = decideVerdict({ doubts: [...new Set(doubts)], evidence });
  // Of the outermost only: it has those inside of it.
  const stamps =
    context.depth === 0 && repository.tree !== null && evidence !== null
      ? stampsOf(repository.tree, evidence)
      : [];
  return {
    path,
    kind,
    ...decided,
    evidence,
    fingerprint: fingerprint({ path, kind, ...decided, evidence, stamps }),
    git_processes: counted.count(),
  };
}

interface Work {
  repository: Repository;
  reference: Reference;
  context: Context;
  shadow: Shadow;
  git: GitCalls;
  doubts: string[];
}

/** Everything there is to find. What one part could not look at is a doubt, and the other parts go on. */
async function collect(work: Work): Promise<Evidence> {
  const { repository, context, git } = work;
  const { limits, signal, views } = context;
  // Both at once: a process that parses, and our own reading.
  const configuring = readConfig(repository, git, { views, maxBytes: limits.fileBytes });
  const walking = repository.tree === null ? null : walk(repository.tree, '', { limits, signal });
  // Either may fail before anybody waits for it; it is told where it is waited for.
  for (const early of [configuring, walking]) early?.catch(() => {});
  let counting: Promise<Ahead | null> | null = null;
  try {
    const { root } = context;
    const around = [...context.within, repository.gitDir, repository.commonDir];
    const look = () =>
      root === null ? [] : strayWorktrees(repository, { root, views, around }, work.doubts);
    const strays = noting(work.doubts, look) ?? [];
    const refs = readRefs(repository, limits);
    const config = await configuring;
    const { facts, index } = prepare(work, refs, config);
    const count = () => {
      counting ??= notingAsync(work.doubts, commitsOf(facts));
      return counting;
    };
    // Starting a process takes time, and git status is the one that is waited for.
    const tree = await treeEvidence({ ...work, refs, config, index, walking, meanwhile: count });
    const nested = [...tree.nested, ...strays];
    return await together(work, facts, { ...tree, nested }, await count());
  } finally {
    // Nothing of it goes on when the shadow is removed.
    await Promise.allSettled([configuring, walking, counting]);
  }
}

async function together(
  work: Work,
  facts: AheadFacts,
  tree: TreeEvidence,
  ahead: Ahead | null,
): Promise<Evidence> {
  const { repository, doubts } = work;
  const unknown = { branches: [], head: unknownHead(facts.refs), stashes: [] };
  const commits =
    ahead === null ? unknown : ((await notingAsync(doubts, aheadEvidence(facts, ahead))) ?? unknown);
  const lockAgeMs = noting(doubts, () => indexLockAgeMs(repository.gitDir));
  return {
    files: [...tree.files, ...tree.hiddenGitlinks()],
    ...commits,
    in_progress: noting(doubts, () => operationsInProgress(repository.gitDir)) ?? [],
    nested: await assessNested(work, tree),
    ignored: tree.ignored ?? nothingIgnored(),
    ...(lockAgeMs === null ? {} : { index_lock: { age_ms: Math.round(lockAgeMs) } }),
  };
}

function prepare(
  { repository, reference, context, shadow, git }: Work,
  refs: Refs,
  config: RepositoryConfig,
): { facts: AheadFacts; index: Buffer | null } {
  const { limits, within } = context;
  const { base, refsAtLaunch, scratchBranch } = reference;
  const objects = objectDirectory(repository.commonDir, within);
  const history = repository.gitDir === repository.commonDir ? null : readHeadHistory(repository, limits);
  const stash = readStash(repository, refs.all.get('refs/stash') ?? null, limits);
  const from = repository.tree ?? repository.gitDir;
  const { views } = context;
  const away = { within: [...within, ...context.session], from, views };
  const remote = elsewhere(refs.all, config.settings, away);
  const trusted = new Set(remote.map(({ name }) => name));
  const all = tipsThatCount({ repository, refs, stash, trusted, refsAtLaunch, history, scratchBranch });
  // A sum of another length in a file of the git directory is no name of an object.
  const tips = { ...all, refs: all.refs.filter(({ name, id }) => !isBesideRefs(name) || fits(config, id)) };
  const sentinel = plantCommit(shadow, config.objectFormat, `${process.pid} ${performance.now()}`);
  const ids = [...tips.refs.map(({ id }) => id), ...tips.stash.map(({ commit }) => commit)];
  if (refs.head.commit !== null) ids.push(refs.head.commit);
  const index = fillShadow(shadow, repository, {
    config,
    head: refs.head.commit,
    objects,
    refs: ids,
    limits,
  });
  const known = base === null ? [] : [base];
  const atLaunch = commitsAtLaunch(refsAtLaunch);
  const certain = new Set([...remote.map(({ id }) => id), ...known, ...atLaunch]);
  const facts: AheadFacts = {
    git,
    ids,
    tips,
    refs,
    config,
    history,
    scratchBranch,
    remote: [...new Set(remote.map(({ id }) => id))],
    known,
    atLaunch,
    typed: tips.refs.some(({ id, textCounts }) => textCounts === true && !certain.has(id)),
    held: () => {
      const remotes = remotesElsewhere(config.settings, away);
      return heldElsewhere({ repository, refs: refs.all, remotes, known: [...certain], limits });
    },
    sentinel,
    limits,
  };
  return { facts, index };
}

function fits({ objectFormat }: RepositoryConfig, id: string): boolean {
  return id.length === (objectFormat === 'sha1' ? 40 : 64);
}

async function assessNested(work: Work, tree: TreeEvidence): Promise<NestedEvidence[]> {
  const nested: NestedEvidence[] = [];
  for (const found of tree.nested) nested.push(await assessFound(work, found));
  return nested;
}

async function assessFound(
  { repository: outer, reference, context }: Work,
  found: Found,
): Promise<NestedEvidence> {
  const { name, kind, repository, problem } = found;
  const place = { ...fileName(name), kind, ...(found.stray === true ? { stray: found.stray } : {}) };
  const unseen = (reason: string): NestedEvidence => ({
    ...place,
    verdict: 'unknown',
    reason,
    evidence: null,
  });
  if (repository === null) return unseen(problem ?? 'it cannot be looked at');
  context.left.nested -= 1;
  if (context.depth >= context.limits.nestedDepth || context.left.nested < 0) {
    return unseen('too many repositories lie inside of each other');
  }
  const { verdict, reason, evidence } = await assessRepository(
    repository,
    sharesRepository(outer, repository) ? { ...reference, scratchBranch: null } : NO_REFERENCE,
    { ...context, within: [...context.within, repository.gitDir], root: null, depth: context.depth + 1 },
  );
  return { ...place, verdict, reason, evidence };
}

function unknownHead(refs: Refs): Evidence['head'] {
  const { ref, commit } = refs.head;
  return { commit, branch: ref === null ? null : ref.replace(/^refs\/heads\//, ''), ahead: 0 };
}
