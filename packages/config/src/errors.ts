import { JackinError } from '@jackin/core';

export interface ConfigIssue {
  /** Where in the file, e.g. `roles.smith.git`; empty for the whole file. */
  key: string;
  reason: string;
}

/** One error for everything that is wrong with one file; text sources are never quoted, they may hold secrets. */
export function configInvalid(
  file: string,
  issues: ConfigIssue[],
  position?: { line: number; column: number },
): JackinError {
  const [first] = issues;
  const place = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  const what = first === undefined ? 'invalid' : describeIssue(first);
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return new JackinError({
    code: 'CONFIG_INVALID',
    message: `${place}: ${what}${more}.`,
    hint: `Correct ${file} and run the command again. Nothing was changed.`,
    details: { file, line: position?.line ?? null, column: position?.column ?? null, problems: issues },
  });
}

export function describeIssue(issue: ConfigIssue): string {
  return issue.key === '' ? issue.reason : `${issue.key}: ${issue.reason}`;
}
