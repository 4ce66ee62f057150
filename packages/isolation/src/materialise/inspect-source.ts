import { join } from 'node:path';
import { gitWords, JackinError, succeeded } from '@jackin/core';
import type { Operation } from '../types.ts';
import { lfsOf } from './lfs.ts';
import { linkedPath } from './linked-paths.ts';
import {
  type GitContext,
  isObjectId,
  line,
  type RepositoryGit,
  records,
  repositoryGit,
} from './repository-git.ts';
import { scratchBranches } from './scratch-branch.ts';
import { findSource, look } from './source-directory.ts';
import type { SourceFacts } from './source-facts.ts';
import {
  configuredWorkTree,
  hooksWithin,
  isOn,
  originOf,
  ownFilters,
  parseSettings,
  settingOf,
  withoutFilters,
} from './source-settings.ts';
import { submodulesOf } from './submodule-facts.ts';

/**
 * Looks at the source of a mount and changes nothing. Whatever it is or holds comes back as facts; what could not be
 * looked at is `problem` (docs/isolation.md#sources).
 * @throws JackinError `GIT_MISSING`; the signal's reason when aborted
 */
export async function inspectSource(path: string, context: GitContext = {}): Promise<SourceFacts> {
  const found = await findSource(path);
  const facts = { ...nothingSeen(found.src), git_dir: found.git_dir, common_dir: found.common_dir };
  if (found.problem !== null) return { ...facts, problem: found.problem };
  const { holder, git_dir: gitDir, common_dir: commonDir } = found;
  if (gitDir === null || holder === null || commonDir === null) return facts;
  try {
    return await inspectRepository({ ...facts, top_level: holder }, { holder, gitDir, commonDir }, context);
  } catch (error) {
    context.signal?.throwIfAborted();
    if (!(error instanceof JackinError) || error.code === 'GIT_MISSING') throw error;
    return { ...facts, top_level: holder, problem: error.message };
  }
}

function nothingSeen(src: string): SourceFacts {
  return {
    src,
    top_level: null,
    git_dir: null,
    common_dir: null,
    bare: false,
    unborn: false,
    head: null,
    branch: null,
    operation: null,
    dirty: 'unknown',
    dirty_files: 0,
    dirty_reason: null,
    origin: { state: 'none' },
    submodules: [],
    lfs: { used: false, available: false },
    object_format: 'sha1',
    partial: false,
    sparse: false,
    filters: [],
    linked: null,
    scratch: [],
    problem: null,
  };
}

interface Where {
  holder: string;
  gitDir: string;
  commonDir: string;
}

async function inspectRepository(
  seen: SourceFacts,
  { holder, gitDir, commonDir }: Where,
  context: GitContext,
): Promise<SourceFacts> {
  const git = repositoryGit(gitDir, context, [holder, commonDir]);
  const settings = parseSettings(await git.must(['config', '--list', '-z', '--show-scope', '--includes']));
  if (settings === null) return { ...seen, problem: 'git did not list the configuration as it should' };
  // A linked worktree has its repository's configuration, but neither its core.worktree nor its core.bare.
  const isLinked = gitDir !== commonDir;
  const workTree = (isLinked ? null : configuredWorkTree(settings, gitDir)) ?? holder;
  const bare = !isLinked && isOn(settingOf(settings, 'core.bare'));
  const filters = ownFilters(settings);
  const facts: SourceFacts = {
    ...seen,
    bare,
    top_level: bare ? null : await canonical(workTree),
    filters,
    origin: originOf(settings, workTree),
    object_format: settingOf(settings, 'extensions.objectformat') === 'sha256' ? 'sha256' : 'sha1',
    partial: settings.some(({ key, value }) => /^remote\..*\.promisor$/s.test(key) && isOn(value ?? 'true')),
    sparse: isOn(settingOf(settings, 'core.sparsecheckout')),
  };
  // Nothing below is asked of what is refused anyway.
  if (bare || facts.top_level !== facts.src) return facts;
  const neutral = withoutFilters(filters);
  if (neutral === null)
    return { ...facts, problem: `no filter may be called ${JSON.stringify(filters.join(', '))}` };
  const named = await headOf(git);
  if (named.problem !== null || named.head === null) return { ...facts, ...named };
  const head = named.head;
  const [operation, dirt, submodules, lfs, linked, scratch] = await Promise.all([
    operationIn(gitDir),
    dirtOf(git, facts.src, neutral),
    submodulesOf(git, facts.src, head),
    lfsOf(git, commonDir, head),
    linkedPath(commonDir, hooksWithin(commonDir, facts.src, settings)),
    scratchBranches(git, head, commonDir),
  ]);
  return { ...facts, ...named, operation, ...dirt, submodules, lfs, linked, scratch };
}

async function canonical(path: string): Promise<string> {
  const { src } = await findSource(path);
  return src;
}

type HeadFacts = Pick<SourceFacts, 'head' | 'branch' | 'unborn' | 'problem'>;

async function headOf(git: RepositoryGit): Promise<HeadFacts> {
  const symbolic = await git.run(['symbolic-ref', '-q', 'HEAD']);
  const words = line(symbolic.stdout);
  const detached = symbolic.exitCode === 1 && words === '';
  if (!detached && !(succeeded(symbolic) && words.startsWith('refs/'))) {
    return { head: null, branch: null, unborn: false, problem: gitWords(symbolic) };
  }
  const branch = detached ? null : words;
  const commit = await git.run(['rev-parse', '--verify', '-q', 'HEAD^{commit}']);
  const head = line(commit.stdout);
  if (succeeded(commit) && isObjectId(head)) return { head, branch, unborn: false, problem: null };
  // No commit yet, or one that cannot be read: only a branch that is not there is the former.
  const listed = branch === null ? null : await git.must(['for-each-ref', '--format=%(refname)', branch]);
  const unborn = commit.exitCode === 1 && listed?.length === 0;
  return {
    head: null,
    branch,
    unborn,
    problem: unborn ? null : `its HEAD cannot be read: ${gitWords(commit)}`,
  };
}

/** What git leaves while it is in the middle of something, by the file that shows it. */
const OPERATIONS: readonly (readonly [string, Operation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick'],
  ['BISECT_LOG', 'bisect'],
];

async function operationIn(gitDir: string): Promise<Operation | null> {
  for (const [file, operation] of OPERATIONS) {
    if ((await look(join(gitDir, file))) !== null) return operation;
  }
  return null;
}

async function dirtOf(
  git: RepositoryGit,
  workTree: string,
  settings: readonly string[],
): Promise<Pick<SourceFacts, 'dirty' | 'dirty_files' | 'dirty_reason'>> {
  const flags = [
    '--porcelain=v1',
    '-z',
    '--untracked-files=normal',
    '--ignore-submodules=none',
    '--no-renames',
  ];
  const result = await git.run(['status', ...flags], { workTree, settings });
  if (!succeeded(result)) return { dirty: 'unknown', dirty_files: 0, dirty_reason: gitWords(result) };
  const count = records(result.stdout).length;
  return { dirty: count === 0 ? 'no' : 'yes', dirty_files: count, dirty_reason: null };
}
