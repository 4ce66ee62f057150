import { JackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';
import type { SourceFacts } from './source-facts.ts';

/** A mount as far as making a tree of it goes. */
export interface IsolatedMount {
  src: string;
  dst: string;
  isolation: 'worktree' | 'clone';
  readonly: boolean;
}

const word = (text: string) => JSON.stringify(text);
const shareIt = (dst: string) => `--mount-isolation ${word(`${dst}=shared`)}`;

export function readOnly({ src, dst, isolation }: IsolatedMount): JackinError {
  return refusal(
    'ISOLATION_READ_ONLY',
    `The mount at ${word(dst)} is read-only and asks for a ${isolation} of ${word(src)}, which is made to be written.`,
    `Share it read-only (${shareIt(dst)}), or drop readonly from the mount.`,
    { src, dst },
  );
}

export function holdsCredentials({ src, dst }: IsolatedMount, store: string): JackinError {
  return refusal(
    'ISOLATION_CREDENTIALS',
    `${word(src)} holds credentials (${store}) and is not copied into a tree for an agent.`,
    `Mount another directory at ${word(dst)}.`,
    { src, dst, store },
  );
}

export function unreadableSource(src: string, reason: string): JackinError {
  return refusal(
    'SOURCE_UNKNOWN',
    `Cannot tell what ${word(src)} is: ${reason}`,
    `Look at it with: git -C ${word(src)} status`,
    { src },
  );
}

export function notARepository({ src, dst, isolation }: IsolatedMount): JackinError {
  return refusal(
    'SOURCE_NOT_A_REPOSITORY',
    `${word(src)} belongs to no git repository, so there is no ${isolation} of it.`,
    `Make it one (git -C ${word(src)} init, then commit), or share it: ${shareIt(dst)}`,
    { src },
  );
}

export function linkedRepository(
  { src, dst }: Pick<IsolatedMount, 'src' | 'dst'>,
  path: string,
): JackinError {
  return refusal(
    'SOURCE_LINKED',
    `${word(path)} in the repository of ${word(src)} is a link, so an agent in a container with a worktree of it could replace it.`,
    `Put what it leads to in its place, or let the agent work in a clone: --mount-isolation ${word(`${dst}=clone`)}`,
    { src, path },
  );
}

export function bareSource({ src, dst }: IsolatedMount): JackinError {
  return refusal(
    'SOURCE_BARE',
    `${word(src)} is a bare repository and has no files of its own.`,
    `Check it out (git clone ${word(src)} DIRECTORY) and mount that at ${word(dst)}.`,
    { src },
  );
}

export function notTopLevel({ src, dst, isolation }: IsolatedMount, topLevel: string): JackinError {
  return refusal(
    'SOURCE_NOT_TOP_LEVEL',
    `${word(src)} is not the top level of its repository, which is ${word(topLevel)}; a ${isolation} is of all of it.`,
    `Mount ${word(topLevel)} instead, or share the directory: ${shareIt(dst)}`,
    { src, top_level: topLevel },
  );
}

export function unbornSource(src: string, branch: string | null): JackinError {
  const where = branch === null ? '' : ` on ${branch.replace('refs/heads/', '')}`;
  return refusal(
    'SOURCE_UNBORN',
    `${word(src)} has no commit yet${where}, so there is nothing to start from.`,
    `Commit something first: git -C ${word(src)} commit --allow-empty -m start`,
    { src },
  );
}

export function busySource(src: string, operation: NonNullable<SourceFacts['operation']>): JackinError {
  const way =
    operation === 'bisect'
      ? `git -C ${word(src)} bisect reset`
      : `git -C ${word(src)} ${operation} --continue (or --abort)`;
  return refusal(
    'SOURCE_BUSY',
    `${word(src)} is in the middle of a ${operation}.`,
    `End it, then run the command again: ${way}`,
    { src, operation },
  );
}

export function dirtySource(
  src: string,
  facts: Pick<SourceFacts, 'dirty' | 'dirty_files' | 'dirty_reason'>,
): JackinError {
  const seen = facts.dirty === 'yes';
  const what = seen
    ? `has ${dirtyWords(facts.dirty_files)}`
    : `could not be looked at for uncommitted changes (${facts.dirty_reason})`;
  return refusal(
    'SOURCE_DIRTY',
    `${word(src)} ${what}; a tree is made of what is committed, and nobody can be asked.`,
    seen
      ? 'Commit or stash them, or go on without them: --force'
      : `See what keeps git (a pipe among its files, for example): git -C ${word(src)} status; or go on without: --force`,
    { src, files: facts.dirty_files },
    3,
  );
}

export function dirtyWords(files: number): string {
  return files === 1 ? 'one uncommitted change' : `${files} uncommitted changes`;
}

export function originUnreadable(src: string, reason: string): JackinError {
  return refusal(
    'ORIGIN_UNREADABLE',
    `The origin of ${word(src)} cannot be used: ${reason}.`,
    `See it with: git -C ${word(src)} remote -v; set it with: git -C ${word(src)} remote set-url origin ADDRESS`,
    { src },
  );
}

export function partialSource({ src, dst }: IsolatedMount): JackinError {
  return refusal(
    'SOURCE_PARTIAL',
    `${word(src)} is a partial clone: it fetches objects when they are needed, which a clone of it could not.`,
    `Use a worktree (--mount-isolation ${word(`${dst}=worktree`)}), or fetch everything: git -C ${word(src)} fetch --refetch --no-filter`,
    { src },
  );
}

export function lfsMissing(src: string): JackinError {
  return refusal(
    'LFS_MISSING',
    `${word(src)} keeps files with git-lfs, which is not installed here.`,
    'Install git-lfs, or start with the pointers instead of the files: GIT_LFS_SKIP_SMUDGE=1 jackin load …',
    { src },
  );
}

export function drift(record: IsolationRecord, mount: { src: string; isolation: string }): JackinError {
  const { mount_dst: dst } = record;
  return refusal(
    'ISOLATION_DRIFT',
    `${word(dst)} was made as a ${record.isolation} of ${word(record.original_src)}; now a ${mount.isolation} of ${word(mount.src)} is asked for.`,
    `Go on with it as it was made: jackin resume ${record.container_name}; or start a new one: jackin load --new`,
    { dst, recorded: pick(record.original_src, record.isolation), asked: pick(mount.src, mount.isolation) },
  );
}

export function treeExists(path: string, known: 'yes' | 'unknown'): JackinError {
  return refusal(
    'TREE_EXISTS',
    known === 'yes'
      ? `There is something at ${word(path)} that no record names; nothing is made over it.`
      : `Cannot tell whether there is something at ${word(path)}.`,
    `Look at it with: ls -la ${word(path)}, and move it away if it is of no use`,
    { path },
  );
}

export function scratchTaken(src: string, by: string): JackinError {
  return refusal(
    'SCRATCH_BRANCH_TAKEN',
    `${word(src)} has a branch ${word(by)} that leaves no name for the branch of a worktree.`,
    `Rename it: git -C ${word(src)} branch -m ${word(by)} NAME`,
    { src, branch: by },
  );
}

function pick(src: string, isolation: string) {
  return { src, isolation };
}

function refusal(
  code: string,
  message: string,
  hint: string,
  details: Record<string, unknown>,
  exitCode: 1 | 3 = 1,
): JackinError {
  return new JackinError({ code, message, hint, details, exitCode });
}
