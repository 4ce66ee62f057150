import type { Evidence, FileName } from '@jackin/isolation';
import type { MountDocument } from './mount-document.ts';

/** How many entries of one kind a text names before it only counts the rest. */
const SHOWN = 50;
const IGNORED_SHOWN = 10;

/**
 * What was found in a tree, as the lines of every text that shows it: the exit question, the one of a resume, a
 * confirmation, `status --detail` (docs/isolation.md#evidence). What is left out is counted. A tree that could not be
 * looked at says so and never looks empty.
 */
export function treeLines(mount: Pick<MountDocument, 'verdict' | 'reason' | 'evidence'>): string[] {
  const { evidence } = mount;
  const doubt = mount.verdict === 'unknown' ? [`could not be assessed: ${mount.reason}`] : [];
  if (evidence === null) return doubt.length > 0 ? doubt : [mount.reason];
  const lines = [...doubt, ...evidenceLines(evidence)];
  return lines.length > 0 ? lines : [mount.reason];
}

/** The same for one piece of evidence, that of a nested repository too. */
export function evidenceLines(evidence: Evidence): string[] {
  const { head, branches, stashes, in_progress: operations, nested } = evidence;
  const content = evidence.files.filter((file) => file.mode_only !== true);
  const modes = evidence.files.filter((file) => file.mode_only === true);
  const open = branches.filter(({ landed }) => landed === undefined);
  const landed = branches.filter((branch) => branch.landed !== undefined);
  return [
    ...section('uncommitted', content, 'file', fileLine),
    ...section('mode only', modes, 'file', fileLine),
    ...section('unpushed', open, 'branch', branchLine),
    ...(head.branch === null && head.ahead > 0 && head.landed === undefined
      ? [`detached      ${head.commit?.slice(0, 12) ?? '?'}  ${commits(head.ahead)} on no branch`]
      : []),
    ...(head.differs_from === undefined
      ? []
      : [
          `HEAD is at    ${head.commit?.slice(0, 12) ?? '?'}, not where ${head.differs_from.branch} is (${head.differs_from.commit.slice(0, 12)})`,
        ]),
    ...section('stashed', stashes, 'stash', ({ commit, message }) => `${commit.slice(0, 12)}  ${message}`),
    ...operations.map((operation) => `in progress   ${operation}`),
    ...section(
      'nested',
      nested.filter(({ verdict }) => verdict !== 'clean'),
      'repository',
      (one) => `${nameOf(one)}  ${one.kind} ${one.verdict}: ${one.reason}`,
    ),
    ...section(
      'landed',
      landed,
      'branch',
      ({ name, landed: by }) => `${name}  as ${by?.commit.slice(0, 12)} on a remote`,
    ),
    ...ignoredLines(evidence.ignored),
    ...(evidence.index_lock === undefined
      ? []
      : [
          `index.lock    ${Math.round(evidence.index_lock.age_ms / 1000)} s old: a git is at work there, or was ended`,
        ]),
  ];
}

/** What goes with a tree although it gates nothing: named in every text, for a question as for a receipt. */
export function ignoredLines({ count, bytes, files, directories }: Evidence['ignored']): string[] {
  if (count === 0 && directories.length === 0) return [];
  const names = [...files.slice(0, IGNORED_SHOWN), ...directories.slice(0, IGNORED_SHOWN)].map(nameOf);
  const more = count + directories.length - names.length;
  const total = `${count} file${count === 1 ? '' : 's'}, ${bytes} bytes`;
  return [`ignored       ${total}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

/** A name as people read it; where it is not text its bytes are in the JSON. */
function nameOf({ path, path_is_lossy }: FileName): string {
  return path_is_lossy ? `${path} (not UTF-8)` : path;
}

function section<T>(title: string, items: readonly T[], what: string, line: (item: T) => string): string[] {
  if (items.length === 0) return [];
  const left = items.length - SHOWN;
  return [
    `${title.padEnd(13)} ${items.length} ${items.length === 1 ? what : plural(what)}`,
    ...items.slice(0, SHOWN).map((item) => `  ${line(item)}`),
    ...(left > 0 ? [`  … and ${left} more`] : []),
  ];
}

function fileLine(file: Evidence['files'][number]): string {
  const from = file.orig_path === undefined ? '' : ` (was ${file.orig_path})`;
  const hidden = file.hidden === undefined ? '' : ` (hidden by ${file.hidden.replace('_', '-')})`;
  return `${file.status.padEnd(2)} ${nameOf(file)}${from}${hidden}`;
}

function branchLine({ name, ahead, upstream, upstream_gone, object }: Evidence['branches'][number]): string {
  if (object !== undefined) return `${name}  ${object === 'tag' ? 'text of the tag' : object} on no remote`;
  const gone = upstream_gone === true ? ', which is gone' : '';
  return `${name}  ${commits(ahead)} ${upstream === null ? 'on no remote' : `ahead of ${upstream}${gone}`}`;
}

function commits(count: number): string {
  return `${count} commit${count === 1 ? '' : 's'}`;
}

function plural(word: string): string {
  if (word.endsWith('y')) return `${word.slice(0, -1)}ies`;
  return /(sh|ch)$/.test(word) ? `${word}es` : `${word}s`;
}
