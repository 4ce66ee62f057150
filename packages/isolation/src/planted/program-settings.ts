import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readFileBounded, succeeded } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { dangerIn } from '../materialise/registration-settings.ts';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';
import { look } from '../materialise/source-directory.ts';

/**
 * Settings that change what git says or where it looks on a remote, and run nothing. Every other one counts: the list
 * of those that run programs grows with git and its extensions. Names in lower case.
 */
const HARMLESS = [
  /^(author|committer|user)\.(email|name|signingkey|useconfigonly)$/,
  /^branch\..*\.(?!mergeoptions$)[^.]+$/s,
  /^color\./,
  /^(commit|tag)\.gpgsign$/,
  /^core\.(abbrev|autocrlf|bigfilethreshold|checkstat|compression|eol|filemode|ignorecase|logallrefupdates)$/,
  /^core\.(precomposeunicode|quotepath|repositoryformatversion|safecrlf|sparsecheckout(cone)?|symlinks)$/,
  /^core\.(trustctime|untrackedcache|warnambiguousrefs)$/,
  /^diff\.(algorithm|colormoved|context|mnemonicprefix|noprefix|renamelimit|renames|submodule)$/,
  /^(feature|index|pack|rerere|status)\.[^.]+$/,
  /^fetch\.(all|parallel|prune|prunetags|recursesubmodules|writecommitgraph)$/,
  /^gc\.auto(detach|packlimit)?$/,
  /^lfs\.(repositoryformatversion|.*\.(access|locksverify))$/s,
  /^log\.[^.]+$/,
  /^maintenance\.(auto|strategy)$/,
  /^merge\.(autostash|conflictstyle|ff|log|renames|stat|verbosity)$/,
  /^(pull|rebase)\.(abbreviatecommands|autosquash|autostash|ff|rebase|stat|updaterefs)$/,
  /^push\.(autosetupremote|default|followtags|recursesubmodules)$/,
  /^remote\.pushdefault$/,
  /^remote\..*\.(fetch|followremotehead|partialclonefilter|promisor|prune|prunetags|push|pushurl|skip\w+|tagopt|url)$/s,
  /^submodule\.(active|fetchjobs|propagatebranches|recurse)$/,
  /^submodule\..*\.(active|branch|fetchrecursesubmodules|ignore|shallow|url)$/s,
];
/** Of these the value names a place. A program may be meant (`ext::…`), or a repository that brings its own hooks. */
const ADDRESS = /^(remote\..*\.(push)?url|submodule\..*\.url)$/s;
const ELSEWHERE = /^((https?|ssh|git|git\+ssh|ssh\+git):\/\/[^-]|[\w.-]+@[\w.-]+:(?!:))/;
/** A remote by its name, or the repository itself. */
const REMOTE = /^(remote\.pushdefault|branch\..*\.(push)?remote)$/s;
const NAMED = /^(\.|[\w][\w.-]*)$/;
/** What is fetched is written there: over a branch, it would be lost. */
const FETCH = /^remote\..*\.fetch$/s;
const TRACKING = /^\+?[^:]*(:refs\/(remotes|tags)\/[^:]*)?$/;

const CONFIG_BYTES = 64 * 1024 * 1024;

/**
 * The settings of a repository's own configuration that may run programs, each as `key digest-of-its-value`: values may be
 * nobody's business. Read as text, so that none of them takes effect.
 * @returns null when it cannot be read
 */
export async function programSettings(commonDir: string, context: GitContext): Promise<string[] | null> {
  const [config, own] = await Promise.all(
    ['config', 'config.worktree'].map((name) => contentOf(commonDir, name)),
  );
  // Every repository has the first; the second is the main working tree's, where there is one.
  if (config == null || own === undefined) return null;
  const git = repositoryGit('/dev/null', context);
  // Two lines: the last one of the first may be continued.
  const input = Buffer.concat([config, Buffer.from('\n\n'), own ?? Buffer.alloc(0)]);
  const listed = await git.run(['config', '-f', '-', '--no-includes', '-z', '--list'], { input });
  if (!succeeded(listed)) return null;
  const found = listed.stdout
    .toString('utf8')
    .split('\0')
    .flatMap((entry) => {
      const [key = '', ...value] = entry.split('\n');
      const digest = createHash('sha256').update(value.join('\n')).digest('hex').slice(0, 16);
      return key === '' || isHarmless(key, value.join('\n')) ? [] : [`${key} ${digest}`];
    });
  return [...new Set(found)].sort();
}

/** Null when there is none, undefined when it cannot be read. */
async function contentOf(commonDir: string, name: string): Promise<Buffer | null | undefined> {
  return readFileBounded(join(commonDir, name), { maxBytes: CONFIG_BYTES }).catch(() => undefined);
}

/**
 * Keys of settings that may run programs and were not there, or had another value, when the worktree was made. The
 * configuration is not writable from a container until git on the host replaces the file (docs/isolation.md#worktree):
 * from then on it may be the agent that wrote them.
 */
export async function plantedSettings(record: IsolationRecord, context: GitContext = {}): Promise<string[]> {
  const { git_common_dir: common, settings_at_launch: known, registration } = record;
  if (common === undefined || known === undefined) return [];
  // A repository that is gone is told by its divergence.
  if ((await look(common)) === null) return [];
  if ((await look(join(common, 'commondir'))) !== null) return ['commondir: all of it is read elsewhere'];
  const now = await programSettings(common, context);
  if (now === null) return ['the configuration cannot be read'];
  const fresh = now.filter((entry) => !known.includes(entry));
  const danger =
    registration === undefined
      ? null
      : await dangerIn({ path: join(common, 'worktrees', registration) }, context);
  return [
    ...fresh.map((entry) => entry.slice(0, entry.lastIndexOf(' '))),
    ...(danger === null ? [] : [danger]),
  ];
}

function isHarmless(key: string, value: string): boolean {
  if (!HARMLESS.some((pattern) => pattern.test(key))) return false;
  if (ADDRESS.test(key)) return ELSEWHERE.test(value);
  if (REMOTE.test(key)) return NAMED.test(value);
  return !FETCH.test(key) || TRACKING.test(value);
}
