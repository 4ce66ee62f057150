import { readlinkSync } from 'node:fs';
import { Doubt } from './doubt.ts';
import { printable } from './names.ts';
import { type AnyPath, below, entriesOf, list, look, readRegular } from './read.ts';
import { REF_BYTES, type RefValue, refValueOf } from './ref-value.ts';

/**
 * What git keeps beside `refs/` for itself: either judged by the operation it is part of, or no work of anybody. Not
 * `MERGE_AUTOSTASH`: what was stashed for a squash merge is nowhere else.
 */
const GITS_OWN = new RegExp(
  `^(?:${[
    'HEAD|(?:ORIG|FETCH|MERGE|CHERRY_PICK|REVERT|REBASE|BISECT)_HEAD|AUTO_MERGE|MERGE_(?:MSG|MODE|RR)',
    'NOTES_MERGE_(?:PARTIAL|REF)',
    'BISECT_(?:ANCESTORS_OK|EXPECTED_REV|FIRST_PARENT|LOG|NAMES|RUN|START|TERMS)',
    '(?:COMMIT|MERGE|NOTES|TAG)_EDITMSG|SQUASH_MSG|(?:EDIT|BRANCH)_DESCRIPTION|RENAMED-REF',
    'shallow|packed-refs|config|config\\.worktree|description|gitdir|commondir|locked|index|sharedindex\\..*',
  ].join('|')})$`,
);
/** Directories of git and of programs that keep their data there; some are large. */
const DIRECTORIES = new Set([
  ...['objects', 'refs', 'logs', 'hooks', 'info', 'branches', 'remotes', 'worktrees', 'modules', 'rr-cache'],
  ...['rebase-merge', 'rebase-apply', 'sequencer', 'lost-found', 'NOTES_MERGE_WORKTREE', 'fsmonitor--daemon'],
  ...['lfs', 'annex', 'svn', 'sl', 'filter-repo', 'branchless', 'gitbutler'],
]);
const REF_NAME = /^(?!\.)(?!.*(?:\.\.|@\{))[^\0-\x20~^:?*[\\\x7f]+(?<!\.lock)(?<!\.)$/;
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 10;

/** Whether a worktree has a ref beside `refs/` for itself; any other is of the repository. */
export function isOwnRootRef(name: string): boolean {
  return /^[-A-Z_]+$/.test(name);
}

/**
 * Refs beside `refs/`, as `git update-ref NAME` writes them, but for those git keeps itself. `git for-each-ref` names
 * none of them, and nothing keeps their commits.
 * @param of `own`: those a worktree has for itself; `shared`: all others
 * @throws Doubt when there is too much to look at
 */
export function readRootRefs(gitDir: AnyPath, of: 'own' | 'shared'): Map<string, RefValue> {
  const found = new Map<string, RefValue>();
  const waiting = [{ name: '', depth: 0 }];
  let entries = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, depth } = next;
    const children = depth === 0 ? (list(gitDir) ?? []) : entriesOf(below(gitDir, name));
    entries += children.length;
    if (entries > MAX_ENTRIES || depth > MAX_DEPTH)
      throw new Doubt(`there is too much to look at in ${printable(below(gitDir, name))}`);
    for (const child of children) {
      const full = depth === 0 ? child.name : `${name}/${child.name}`;
      const known = depth === 0 && (child.isDirectory() ? DIRECTORIES.has(full) : GITS_OWN.test(full));
      if (known || !REF_NAME.test(child.name)) continue;
      if (child.isDirectory()) {
        if (of === 'shared') waiting.push({ name: full, depth: depth + 1 });
      } else if (isOwnRootRef(full) === (of === 'own')) {
        const value = child.isSymbolicLink()
          ? linked(below(gitDir, full))
          : child.isFile()
            ? plain(below(gitDir, full), isOwnRootRef(full))
            : null;
        if (value !== null) found.set(full, value);
      }
    }
  }
  return found;
}

/** A file that holds something else is no ref. */
function plain(path: AnyPath, named: boolean): RefValue | null {
  if ((look(path)?.size ?? 0n) > REF_BYTES) return null;
  const content = readRegular(path, REF_BYTES)?.bytes.toString('latin1') ?? '';
  // Git itself takes whatever follows after white space; under any other name that is somebody's list.
  return refValueOf(named ? content.replace(/^([0-9a-f]{40,64})\s.*$/s, '$1') : content);
}

/** As git wrote symbolic refs once. Any other link was made by somebody else, and git writes no ref through it. */
function linked(path: AnyPath): RefValue | null {
  try {
    const target = readlinkSync(path, { encoding: 'latin1' });
    return target.startsWith('refs/') ? { symbolic: target } : null;
  } catch {
    return null;
  }
}
