import type { JackinError } from '@jackin/core';
import * as refuse from './refusals.ts';
import { chooseScratch } from './scratch-branch.ts';
import type { SourceFacts, SubmoduleFact } from './source-facts.ts';

export interface MaterialiseInput {
  mount: refuse.IsolatedMount;
  facts: SourceFacts;
  /** Base name of the instance: names the branch, the lock and the registration. */
  container: string;
  /** Where the tree is to be (docs/storage.md). */
  treePath: string;
  treeExists: 'yes' | 'no' | 'unknown';
  /** Who works in it is in a container, which must not write all of the repository. */
  contained: boolean;
  /** Go into the record as they are. */
  workspace: string;
  selectorKey: string;
  interactive: boolean;
  force: boolean;
  skipLfs: boolean;
  /** The credential store the source is or lies in. */
  credentials?: string | null;
  /** Branches other mounts of this instance are about to make, where they are of the same repository. */
  plannedScratch?: readonly string[];
}

/** What is going to be made, as data: nothing of it is looked up again. */
export interface MaterialisePlan {
  kind: 'worktree' | 'clone';
  src: string;
  dst: string;
  tree: string;
  container: string;
  workspace: string;
  selector_key: string;
  git_dir: string;
  common_dir: string;
  object_format: 'sha1' | 'sha256';
  base_commit: string;
  /** Short: what the host has checked out; null when detached. */
  host_branch: string | null;
  /** A worktree's; `adopt` is where a branch of this name is now. */
  scratch: { name: string; adopt: string | null } | null;
  /** A clone's. */
  origin: string | null;
  submodules: SubmoduleFact[];
  lfs: 'none' | 'files' | 'pointers';
  /** Filters of the repository that are not run. */
  filters: string[];
  /** For the launch report, one sentence each. */
  notices: string[];
}

export type MaterialiseDecision =
  | { outcome: 'refused'; error: JackinError }
  | { outcome: 'make'; plan: MaterialisePlan };

/**
 * Whether a tree is made of a mount, and which. Pure (docs/isolation.md#sources). For a mount that has a record none is
 * made, whatever became of its tree: what to do about that is decided by its divergence.
 */
export function planMaterialise(input: MaterialiseInput): MaterialiseDecision {
  const { facts } = input;
  const error = refusalOf(input);
  if (error !== null) return { outcome: 'refused', error };
  const scratch = scratchOf(input);
  if (scratch !== null && scratch.state === 'taken') {
    return { outcome: 'refused', error: refuse.scratchTaken(facts.src, scratch.by) };
  }
  return { outcome: 'make', plan: planOf(input, scratch) };
}

function refusalOf(input: MaterialiseInput): JackinError | null {
  const { mount, facts } = input;
  const { src } = facts;
  const clone = mount.isolation === 'clone';
  if (mount.readonly) return refuse.readOnly(mount);
  if (typeof input.credentials === 'string') return refuse.holdsCredentials(mount, input.credentials);
  if (facts.problem !== null) return refuse.unreadableSource(src, facts.problem);
  if (facts.git_dir === null || facts.common_dir === null) return refuse.notARepository(mount);
  if (facts.bare) return refuse.bareSource(mount);
  if (facts.top_level === null) return refuse.notARepository(mount);
  if (facts.top_level !== src) return refuse.notTopLevel(mount, facts.top_level);
  if (facts.unborn) return refuse.unbornSource(src, facts.branch);
  if (facts.head === null) return refuse.unreadableSource(src, 'it has no commit that can be read');
  if (facts.operation !== null) return refuse.busySource(src, facts.operation);
  if (!clone && input.contained && facts.linked !== null) return refuse.linkedRepository(mount, facts.linked);
  if (clone && facts.partial) return refuse.partialSource(mount);
  if (clone && facts.origin.state === 'unreadable') return refuse.originUnreadable(src, facts.origin.reason);
  if (facts.lfs.used && !facts.lfs.available && !input.skipLfs) return refuse.lfsMissing(src);
  if (facts.dirty !== 'no' && !input.interactive && !input.force) return refuse.dirtySource(src, facts);
  return input.treeExists === 'no' ? null : refuse.treeExists(input.treePath, input.treeExists);
}

function scratchOf({ mount, container, facts, plannedScratch = [] }: MaterialiseInput) {
  if (mount.isolation === 'clone') return null;
  const planned = plannedScratch.map((name) => ({
    name,
    commit: '',
    checked_out: 'planned',
    own_commits: true,
  }));
  return chooseScratch(container, [...facts.scratch, ...planned]);
}

function planOf(input: MaterialiseInput, scratch: ReturnType<typeof scratchOf>): MaterialisePlan {
  const { mount, facts } = input;
  const lfs = facts.lfs.used ? (input.skipLfs ? 'pointers' : 'files') : 'none';
  const chosen = scratch?.state === 'chosen' ? scratch : null;
  return {
    kind: mount.isolation,
    src: facts.src,
    dst: mount.dst,
    tree: input.treePath,
    container: input.container,
    workspace: input.workspace,
    selector_key: input.selectorKey,
    git_dir: facts.git_dir as string,
    common_dir: facts.common_dir as string,
    object_format: facts.object_format,
    base_commit: facts.head as string,
    host_branch: facts.branch?.replace(/^refs\/heads\//, '') ?? null,
    scratch: chosen === null ? null : { name: chosen.name, adopt: chosen.adopt },
    origin: facts.origin.state === 'url' ? facts.origin.url : null,
    submodules: facts.submodules,
    lfs,
    filters: facts.filters,
    notices: noticesOf(input, lfs, chosen?.passed ?? []),
  };
}

function noticesOf(
  { mount, facts }: MaterialiseInput,
  lfs: MaterialisePlan['lfs'],
  passed: string[],
): string[] {
  const { src } = facts;
  const notices: string[] = [];
  if (facts.dirty === 'yes') {
    notices.push(
      `${src} has ${refuse.dirtyWords(facts.dirty_files)}, which the ${mount.isolation} does not have.`,
    );
  }
  if (facts.dirty === 'unknown') {
    notices.push(
      `Whether ${src} has uncommitted changes could not be told (${facts.dirty_reason}); the ${mount.isolation} has none of them.`,
    );
  }
  for (const name of passed)
    notices.push(`The branch ${name} is in use or has commits of its own and stays.`);
  if (lfs === 'pointers') notices.push('Files kept with git-lfs are pointers in the tree.');
  if (facts.sparse && mount.isolation === 'worktree') {
    notices.push(`${src} is a sparse checkout, and so is the worktree.`);
  }
  for (const filter of facts.filters) {
    notices.push(
      `The filter ${filter} is set in the configuration of ${src} only and is not run: files it changes are as they are committed, and at the exit the tree will be kept as unknown. To have it run, set it in your own configuration (git config --global).`,
    );
  }
  for (const { path, initialised, commit } of facts.submodules) {
    if (!initialised && commit !== null) {
      notices.push(
        `The submodule ${path} is not initialised in ${src} and is empty in the ${mount.isolation}.`,
      );
    }
  }
  if (mount.isolation === 'clone' && facts.origin.state === 'none') {
    notices.push(`${src} has no origin, so the clone has no remote.`);
  }
  return notices;
}
