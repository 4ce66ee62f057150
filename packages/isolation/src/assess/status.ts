import { Doubt } from './doubt.ts';

/** One line of `git status --porcelain=v2 -z`, names as bytes (latin1). */
export interface StatusEntry {
  /** As `git status --short` prints it. */
  status: string;
  path: string;
  origPath: string | null;
  /** Of an entry that is neither unmerged nor unknown to git. */
  change: Change | null;
}

interface Change {
  modes: { head: string; index: string; tree: string };
  ids: { head: string; index: string };
}

export interface Status {
  entries: StatusEntry[];
  ignored: string[];
}

export const STATUS_ARGS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-ahead-behind',
  '--untracked-files=all',
  '--ignored=matching',
  // Anything less makes git run a git of its own inside of each; they are assessed like the tree itself.
  '--ignore-submodules=dirty',
  '--find-renames',
] as const;
export const STATUS_SETTINGS = ['status.submoduleSummary=false', 'status.showStash=false'] as const;

const FIELDS = /([^ ]{2}) [NS][^ ]{3} (\d{6}) (\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.source;
const CHANGED = new RegExp(`^1 ${FIELDS}(.+)$`, 's');
const RENAMED = new RegExp(`^2 ${FIELDS}[RC]\\d+ (.+)$`, 's');
const UNMERGED = /^u ([^ ]{2}) [NS][^ ]{3}(?: \d{6}){4}(?: [0-9a-f]{40,64}){3} (.+)$/s;

/**
 * @param head the commit git has to answer for, null before the first one
 * @throws Doubt for an answer that is empty, of another repository, or not understood to its last byte
 */
export function parseStatus(output: Buffer, head: string | null): Status {
  const records = output.toString('latin1').split('\0');
  if (records.pop() !== '') throw new Doubt('git status answered something else');
  const status: Status = { entries: [], ignored: [] };
  let answeredFor: string | null = null;
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? '';
    if (record.startsWith('# ')) {
      answeredFor = /^# branch\.oid (.+)$/.exec(record)?.[1] ?? answeredFor;
    } else if (record.startsWith('! ')) {
      status.ignored.push(record.slice(2));
    } else if (record.startsWith('2 ')) {
      at += 1;
      status.entries.push(entryOf(record, records[at] ?? null));
    } else {
      status.entries.push(entryOf(record, null));
    }
  }
  if (answeredFor !== (head ?? '(initial)')) throw new Doubt('git status answered for another repository');
  return status;
}

function entryOf(record: string, origPath: string | null): StatusEntry {
  if (record.startsWith('? ') && record.length > 2) {
    return { status: '??', path: record.slice(2), origPath: null, change: null };
  }
  const unmerged = UNMERGED.exec(record);
  if (unmerged !== null) {
    return { status: unmerged[1] ?? '', path: unmerged[2] ?? '', origPath: null, change: null };
  }
  const pattern = origPath === null ? CHANGED : RENAMED;
  const [, letters, headMode, indexMode, treeMode, headId, indexId, path] = pattern.exec(record) ?? [];
  if (letters === undefined || path === undefined || origPath === '') {
    throw new Doubt('git status answered something else');
  }
  return {
    status: letters.replaceAll('.', ' '),
    path,
    origPath,
    change: {
      modes: { head: headMode ?? '', index: indexMode ?? '', tree: treeMode ?? '' },
      ids: { head: headId ?? '', index: indexId ?? '' },
    },
  };
}
