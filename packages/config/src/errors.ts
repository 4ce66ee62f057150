import { JackinError } from '@jackin/core';
import { lineOf, type TomlPath } from './document/index.ts';

export interface ConfigIssue {
  /** Where in the file, e.g. `roles.smith.git`; empty for the whole file. */
  key: string;
  reason: string;
  /** From 1; null or absent where it is not known. */
  line?: number | null;
  /** What to write instead, as a sentence. */
  fix?: string;
}

/** The same before it is known in which file it lies. */
export interface FieldIssue {
  path: TomlPath;
  reason: string;
  fix?: string;
}

/** Where a table was read from. */
export interface ConfigSource {
  file: string;
  /** As it is on the disk, not migrated. */
  text: string;
  /** Where in the file the table lies; empty for the whole. */
  prefix: readonly string[];
}

/** Issues with the place they have in a file; what is missing is looked for where it would be. */
export function locate(source: ConfigSource, issues: readonly FieldIssue[]): ConfigIssue[] {
  return issues.map(({ path, ...issue }) => {
    const full = [...source.prefix, ...path];
    let line: number | null = null;
    for (let depth = full.length; line === null && depth > source.prefix.length; depth -= 1) {
      line = lineOf(source.text, full.slice(0, depth));
    }
    return { key: full.join('.'), ...issue, line: line ?? lineOf(source.text, source.prefix) };
  });
}

/**
 * One error for everything that is wrong with one file; the values of variables are never quoted, they may be secrets.
 * @param position of a syntax error
 */
export function configInvalid(
  file: string,
  issues: ConfigIssue[],
  position?: { line: number; column: number },
): JackinError {
  const [first] = issues;
  const line = position?.line ?? first?.line ?? null;
  const place = [file, line, position?.column]
    .filter((part) => part !== null && part !== undefined)
    .join(':');
  const what = first === undefined ? 'invalid' : describeIssue(first);
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const problems = issues.map((issue) => ({ ...issue, line: issue.line ?? (issue === first ? line : null) }));
  return new JackinError({
    code: 'CONFIG_INVALID',
    message: `${place}: ${what}${more}.`,
    hint: `${first?.fix ?? `Correct ${file}.`} Then run the command again; nothing was changed.`,
    details: { file, key: first?.key ?? '', line, column: position?.column ?? null, problems },
  });
}

/** A file of a version this build does not know; said before anything else of it. */
export function configTooNew(file: string, version: string, newest: string): JackinError {
  return new JackinError({
    code: 'CONFIG_TOO_NEW',
    message: `${file} has version ${JSON.stringify(version)}; this jackin understands up to ${JSON.stringify(newest)}.`,
    hint: 'Upgrade jackin. Nothing was changed.',
    details: { file, version, newest },
  });
}

export function describeIssue(issue: ConfigIssue): string {
  return issue.key === '' ? issue.reason : `${issue.key}: ${issue.reason}`;
}
