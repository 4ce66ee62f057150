import { createHash } from 'node:crypto';

/**
 * What a diff changes, wherever in the files it changes it: the text of `git diff-tree -p --full-index --binary` without
 * line numbers and, for text, without object ids. White space counts, unlike in git's own patch ids. Null for a diff
 * without changes.
 * @param diff one character per byte
 */
export function patchId(diff: string): string | null {
  if (diff === '') return null;
  const hash = createHash('sha256');
  for (const file of filesOf(diff)) {
    const binary = /^(GIT binary patch|Binary files .* differ)$/m.test(headOf(file));
    let inHunk = false;
    for (const line of file.split('\n')) {
      if (line.startsWith('@@ ')) {
        inHunk = true;
        hash.update('@@\n');
      } else if (inHunk || binary || !line.startsWith('index ')) {
        hash.update(`${line}\n`, 'latin1');
      }
    }
  }
  return hash.digest('hex');
}

/** A line of a changed file is never unprefixed, so that these are where they seem to be. */
function filesOf(diff: string): string[] {
  return diff.split(/^(?=diff --git )/m);
}

function headOf(file: string): string {
  const hunk = file.search(/^@@ /m);
  return hunk < 0 ? file : file.slice(0, hunk);
}

export interface Section {
  /** The line that introduces it: the commit, or both trees. */
  title: string;
  diff: string;
}

/** Splits the output of `git diff-tree --stdin` at its titles; null when they are not exactly those, in this order. */
export function sections(output: string, titles: readonly string[]): Section[] | null {
  const found: Section[] = [];
  let at = 0;
  for (const [position, title] of titles.entries()) {
    if (!output.startsWith(`${title}\n`, at)) return null;
    at += title.length + 1;
    const next = titles[position + 1];
    const end = next === undefined ? output.length : endOfSection(output, at, next);
    if (end === null) return null;
    const diff = output.slice(at, end);
    if (diff !== '' && !diff.startsWith('diff --git ')) return null;
    found.push({ title, diff });
    at = end;
  }
  return found;
}

function endOfSection(output: string, from: number, next: string): number | null {
  if (output.startsWith(`${next}\n`, from)) return from;
  const found = output.indexOf(`\n${next}\n`, from);
  return found < 0 ? null : found + 1;
}
