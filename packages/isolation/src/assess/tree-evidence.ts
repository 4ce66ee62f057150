import type { FileEvidence, IgnoredEvidence } from '../types.ts';
import { agedFiles } from './aged-files.ts';
import { isTrue, last, type RepositoryConfig } from './config.ts';
import { compareContent, type Wanted } from './content.ts';
import type { Context } from './context.ts';
import { Doubt, noting, notingAsync } from './doubt.ts';
import type { GitCalls } from './git-calls.ts';
import type { Repository } from './git-directory.ts';
import { ignoredFiles } from './ignored.ts';
import { countedEntries, EMPTY_INDEX, GITLINK, hasTracked, type Index, parseIndex } from './index-file.ts';
import { listFiles } from './ls-files.ts';
import { fileName } from './names.ts';
import { type Found, hiddenGitlinks, openNested, strayFiles } from './nested.ts';
import { type Refs, readRefs } from './refs.ts';
import { parseStatus, STATUS_ARGS, STATUS_SETTINGS, type Status, type StatusEntry } from './status.ts';
import { type Walked, walk } from './walk.ts';

export interface TreeFacts {
  repository: Repository;
  context: Context;
  git: GitCalls;
  /** Filled. */
  doubts: string[];
  refs: Refs;
  config: RepositoryConfig;
  /** The index as it is on disk. */
  index: Buffer | null;
  walking: Promise<Walked> | null;
  /** Called as soon as git looks at the files, if it does. */
  meanwhile: () => void;
}

export interface TreeEvidence {
  files: FileEvidence[];
  hiddenGitlinks(): FileEvidence[];
  nested: Found[];
  ignored: IgnoredEvidence | null;
}

const LFS_OFF = [
  'filter.lfs.clean=',
  'filter.lfs.smudge=',
  'filter.lfs.process=',
  'filter.lfs.required=false',
];

/** What the files of a work tree are, and which repositories are among them. */
export async function treeEvidence(facts: TreeFacts): Promise<TreeEvidence> {
  const { repository, context, git, doubts, walking } = facts;
  const { tree } = repository;
  if (tree === null || walking === null) return nothing();
  const index = await notingAsync(doubts, readIndex(facts));
  const walked = await notingAsync(doubts, walking);
  // Git would go into what nobody has looked at.
  if (index === null || walked === null) return nothing();
  const all = await notingAsync(doubts, withDependencies(facts, tree, walked, index));
  if (all === null) return nothing();
  const nested = noting(doubts, () => openNested({ ...repository, tree }, all, index, context));
  if (nested === null) return nothing();
  const heads = headsOf(nested, context);
  const known = { nested, hiddenGitlinks: () => hiddenGitlinks(index, heads) };
  if (nested.some(({ repository: inner }) => inner === null)) return { ...nothing(), ...known };
  const settings = [...STATUS_SETTINGS, ...(context.lfsSkipped ? LFS_OFF : [])];
  const running = git.run('git status', STATUS_ARGS, { settings });
  facts.meanwhile();
  const status = await notingAsync(
    doubts,
    running.then((output) => parseStatus(output, facts.refs.head.commit)),
  );
  const stray = noting(doubts, () => strayFiles(tree, index, nested)) ?? [];
  if (status === null) return { ...nothing(), ...known, files: stray };
  const compared = await notingAsync(doubts, filesOf(facts, tree, status, index, settings));
  const repositories = new Set(nested.map(({ name }) => name));
  const ignored = await notingAsync(doubts, ignoredFiles(tree, status.ignored, repositories, context));
  return { ...known, files: [...(compared ?? status.entries.map(plainEvidence)), ...stray], ignored };
}

async function readIndex({ git, config, index }: TreeFacts): Promise<Index> {
  if (index === null) return EMPTY_INDEX;
  return parseIndex(index, config.objectFormat) ?? (await listFiles(git, countedEntries(index)));
}

function nothing(): TreeEvidence {
  return { files: [], hiddenGitlinks: () => [], nested: [], ignored: null };
}

/** Dependency directories that git would enter are entered first; those it ignores are not. @throws Doubt */
async function withDependencies(
  { context, git }: TreeFacts,
  tree: string,
  walked: Walked,
  index: Index,
): Promise<Walked> {
  const { limits, signal } = context;
  if (walked.dependencies.length === 0) return walked;
  const tracked = walked.dependencies.filter((name) => hasTracked(index, name));
  const others = walked.dependencies.filter((name) => !tracked.includes(name));
  const ignored = others.length === 0 ? new Set() : await ignoredBy(git, others);
  let all = walked;
  for (const name of [...tracked, ...others.filter((other) => !ignored.has(other))]) {
    const found = await walk(tree, name, { limits, signal, everything: true });
    all = {
      repositories: [...all.repositories, ...found.repositories],
      bare: [...all.bare, ...found.bare],
      dependencies: [],
    };
  }
  return all;
}

async function ignoredBy(git: GitCalls, names: readonly string[]): Promise<Set<string>> {
  const input = Buffer.from(names.map((name) => `${name}/\0`).join(''), 'latin1');
  const result = await git.try('git check-ignore', ['check-ignore', '--no-index', '-z', '--stdin'], {
    input,
  });
  const output = result.stdout.toString('latin1');
  const answered = result.exitCode === 0 ? output.endsWith('\0') : result.exitCode === 1 && output === '';
  if (!answered || result.truncated) throw new Doubt('git check-ignore failed');
  return new Set(output.split('\0').map((name) => name.replace(/\/$/, '')));
}

/** Where each nested repository is; what cannot be read is a doubt of its own assessment. */
function headsOf(nested: readonly Found[], { limits }: Context): Map<string, string | null> {
  const heads = nested.flatMap(({ name, repository }): [string, string | null][] => {
    if (repository === null) return [];
    return [[name, noting([], () => readRefs(repository, limits).head.commit)]];
  });
  return new Map(heads);
}

/** Entries of git status, with what it was told to hide and what only its mode tells apart. @throws Doubt */
async function filesOf(
  { git, config }: TreeFacts,
  tree: string,
  status: Status,
  index: Index,
  settings: readonly string[],
): Promise<FileEvidence[]> {
  const hidden = index.special.filter(({ assumeUnchanged, mode }) => assumeUnchanged && mode !== GITLINK);
  const onlyMode = status.entries.filter(mayBeModeOnly);
  const aged = agedFiles(tree, index.aged, new Set(status.entries.map(({ path }) => path)));
  const wanted: Wanted[] = [
    ...hidden.filter(({ skipWorktree }) => !skipWorktree),
    ...aged,
    ...onlyMode.filter(touchesTree).map(({ path, change }) => ({
      path,
      mode: change?.modes.index ?? '',
      id: change?.ids.index ?? '',
    })),
  ];
  const fileMode = isTrue(last(config.settings, 'core.filemode') ?? 'true');
  const calls: GitCalls = { ...git, run: (name, args, call) => git.run(name, args, { ...call, settings }) };
  const compared =
    wanted.length === 0
      ? new Map<string, never>()
      : await compareContent(calls, tree, wanted, { format: config.objectFormat, fileMode });
  const skipped = new Set(index.special.filter(({ skipWorktree }) => skipWorktree).map(({ path }) => path));
  const modes = new Set(onlyMode);
  const shown = status.entries.map((entry): FileEvidence => {
    const result = compared.get(entry.path);
    const modeOnly = modes.has(entry) && (!touchesTree(entry) || result === 'mode' || result === 'same');
    return {
      ...plainEvidence(entry),
      ...(modeOnly ? { mode_only: true } : {}),
      ...(skipped.has(entry.path) ? { hidden: 'skip_worktree' } : {}),
    };
  });
  const unseen = (path: string, by: NonNullable<FileEvidence['hidden']>): FileEvidence[] => {
    const result = compared.get(path);
    if (result === undefined || result === 'same') return [];
    const letter = result === 'missing' ? 'D' : result === 'type' ? 'T' : 'M';
    const modeOnly = result === 'mode' ? ({ mode_only: true } as const) : {};
    return [{ status: ` ${letter}`, ...fileName(path), ...modeOnly, hidden: by }];
  };
  return [
    ...shown,
    ...hidden.flatMap(({ path, skipWorktree }) => (skipWorktree ? [] : unseen(path, 'assume_unchanged'))),
    ...aged.flatMap(({ path }) => unseen(path, 'file_times')),
  ];
}

/** Neither side changed what is in it, as far as ids tell; the tree's own content has to be looked at. */
function mayBeModeOnly({ status, change }: StatusEntry): boolean {
  if (change === null || !/^[ M][ M]$/.test(status)) return false;
  const { modes, ids } = change;
  const regular = [modes.head, modes.index, modes.tree].every((mode) => /^100(644|755)$/.test(mode));
  return regular && ids.head === ids.index && !(modes.head === modes.index && modes.index === modes.tree);
}

function touchesTree({ status }: StatusEntry): boolean {
  return status[1] !== ' ';
}

function plainEvidence({ status, path, origPath }: StatusEntry): FileEvidence {
  if (origPath === null) return { status, ...fileName(path) };
  const from = fileName(origPath);
  return {
    status,
    ...fileName(path),
    orig_path: from.path,
    ...(from.path_is_lossy ? { orig_path_is_lossy: true, orig_path_base64: from.path_base64 ?? '' } : {}),
  };
}
