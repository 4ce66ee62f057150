import { createHash } from 'node:crypto';
import type { Evidence, Verdict } from '../types.ts';

export interface VerdictFacts {
  /** What could not be looked at, in words. */
  doubts: readonly string[];
  /** Null where nothing could be looked at. */
  evidence: Evidence | null;
}

/** Pure: from what was found to what follows (docs/isolation.md#verdicts). A doubt outweighs all, and is kept. */
export function decideVerdict({ doubts, evidence }: VerdictFacts): { verdict: Verdict; reason: string } {
  const [doubt] = doubts;
  if (evidence === null) return { verdict: 'unknown', reason: doubt ?? 'nothing could be looked at' };
  const dirty = dirtyReasons(evidence);
  const unpushed = unpushedReasons(evidence);
  const unsure = [...doubts, ...nestedReasons(evidence, 'unknown')];
  const known = [...dirty, ...unpushed];
  if (unsure.length > 0) {
    return { verdict: 'unknown', reason: [...unsure.slice(0, 2), ...known].join(', ') };
  }
  if (dirty.length > 0) return { verdict: 'dirty', reason: known.join(', ') };
  if (unpushed.length > 0) return { verdict: 'unpushed', reason: known.join(', ') };
  return { verdict: 'clean', reason: cleanReason(evidence) };
}

/** Of what was found; how old a lock is does not matter. */
export function fingerprint(of: object): string {
  const text = JSON.stringify(of, (key, value: unknown) => {
    if (key === 'age_ms') return undefined;
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function dirtyReasons(evidence: Evidence): string[] {
  const modes = evidence.files.filter(({ mode_only }) => mode_only === true).length;
  const files = evidence.files.length - modes;
  return [
    ...(files > 0 ? [`${counted(files, 'file')} uncommitted`] : []),
    ...(modes > 0 ? [`${modes} mode-only ${modes === 1 ? 'change' : 'changes'}`] : []),
    ...evidence.in_progress.map((operation) => `${operation} in progress`),
    ...nestedReasons(evidence, 'dirty'),
  ];
}

function unpushedReasons(evidence: Evidence): string[] {
  const { head } = evidence;
  const branches = evidence.branches.filter(
    ({ name, landed, outside_refs: outside }) =>
      landed === undefined && !name.startsWith('refs/') && outside !== true,
  );
  const others = evidence.branches.filter(({ landed }) => landed === undefined).length - branches.length;
  return [
    ...(head.ahead > 0 && head.landed === undefined
      ? [`${counted(head.ahead, 'commit')} on a detached HEAD`]
      : []),
    ...(branches.length > 0
      ? [`${branches.length} ${branches.length === 1 ? 'branch' : 'branches'} unpushed`]
      : []),
    ...(others > 0 ? [`${counted(others, 'other ref')} unpushed`] : []),
    ...(evidence.stashes.length > 0
      ? [`${evidence.stashes.length} stash ${evidence.stashes.length === 1 ? 'entry' : 'entries'}`]
      : []),
    ...nestedReasons(evidence, 'unpushed'),
  ];
}

function nestedReasons(evidence: Evidence, verdict: Verdict): string[] {
  const found = evidence.nested.filter((nested) => nested.verdict === verdict);
  const [first] = found;
  if (first === undefined) return [];
  const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
  const where = first.stray === true ? 'outside' : 'inside';
  return [`${verdict} ${where}: ${shown(first.path)}${more} (${first.reason})`];
}

function cleanReason({ branches, head }: Evidence): string {
  const landed = [...branches, head].flatMap((one) => one.landed ?? []);
  const [first] = landed;
  if (first === undefined) return 'nothing uncommitted, nothing unpushed';
  return `nothing uncommitted, and all of it landed: ${first.commit.slice(0, 12)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function shown(path: string): string {
  return path.replace(/\p{Cc}/gu, '?');
}
