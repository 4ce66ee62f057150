import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readFileBounded, succeeded } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import { type GitContext, repositoryGit } from '../materialise/repository-git.ts';

/** Settings whose value git runs, or that make it read further settings or go elsewhere. Names in lower case. */
const RUNS = [
  /^core\.(alternaterefscommand|askpass|editor|fsmonitor|gitproxy|hookspath|pager|sshcommand|worktree)$/,
  /^filter\..*\.(clean|process|smudge)$/s,
  /^diff\.(external|.*\.(command|textconv))$/s,
  /^merge\..*\.driver$/s,
  /^(difftool|mergetool|browser|man)\..*\.(cmd|path)$/s,
  /^credential\.(.*\.)?helper$/s,
  /^gpg\.(.*\.)?program$/s,
  /^include(if\..*)?\.path$/s,
  /^(alias|pager)\./,
  /^sequence\.editor$/,
  /^interactive\.difffilter$/,
  /^remote\..*\.(receivepack|uploadpack|vcs)$/s,
  /^uploadpack\.packobjectshook$/,
  /^submodule\..*\.update$/s,
  /^trailer\..*\.(cmd|command)$/s,
  /^url\..*\.(insteadof|pushinsteadof)$/s,
];

const CONFIG_BYTES = 64 * 1024 * 1024;

/**
 * The settings of a repository's own configuration that run programs, each as `key digest-of-its-value`: values may be
 * nobody's business. Read as text, so that none of them takes effect.
 * @returns null when it cannot be read
 */
export async function programSettings(commonDir: string, context: GitContext): Promise<string[] | null> {
  const input = await readFileBounded(join(commonDir, 'config'), { maxBytes: CONFIG_BYTES }).catch(
    () => null,
  );
  if (input === null) return null;
  const git = repositoryGit('/dev/null', context);
  const listed = await git.run(['config', '-f', '-', '--no-includes', '-z', '--list'], { input });
  if (!succeeded(listed)) return null;
  const found = listed.stdout
    .toString('utf8')
    .split('\0')
    .flatMap((entry) => {
      const [key = '', ...value] = entry.split('\n');
      const digest = createHash('sha256').update(value.join('\n')).digest('hex').slice(0, 16);
      return RUNS.some((pattern) => pattern.test(key)) ? [`${key} ${digest}`] : [];
    });
  return [...new Set(found)].sort();
}

/**
 * Keys of settings that run programs and were not there, or had another value, when the worktree was made. The
 * configuration is not writable from a container until git on the host replaces the file (docs/isolation.md#worktree):
 * from then on it may be the agent that wrote them.
 */
export async function plantedSettings(record: IsolationRecord, context: GitContext = {}): Promise<string[]> {
  const { git_common_dir: common, program_settings: known } = record;
  if (common === undefined || known === undefined) return [];
  const now = await programSettings(common, context);
  if (now === null) return ['the configuration cannot be read'];
  return now.filter((entry) => !known.includes(entry)).map((entry) => entry.slice(0, entry.lastIndexOf(' ')));
}
