import { JackinError } from '@jackin/core';

/** What is wrong with one place of a role, and what to write instead. */
export interface RoleIssue {
  /** Where in the file, e.g. `docker.dind`; empty for the whole file. */
  key: string;
  reason: string;
}

/** One error for everything that is wrong with one file of a role; `fix` is a sentence. */
export function roleInvalid(file: string, issues: RoleIssue | RoleIssue[], fix: string): JackinError {
  const all = Array.isArray(issues) ? issues : [issues];
  const told = all.map(({ key, reason }) => (key === '' ? reason : `${key}: ${reason}`)).join('; ');
  return new JackinError({
    code: 'ROLE_INVALID',
    message: `${file}: ${told}.`,
    hint: `${fix} Then run the command again.`,
    details: { file, key: all[0]?.key ?? '', problems: all, fix },
  });
}

export function roleNotFound(path: string, reason: string): JackinError {
  return new JackinError({
    code: 'ROLE_NOT_FOUND',
    message: `There is no role at ${JSON.stringify(path)}: ${reason}.`,
    hint: 'Correct the path of the role in config.toml, [roles.<key>] path = "/absolute/path".',
    details: { path },
  });
}

/** The directory is no longer what was looked at before. */
export function roleChanged(directory: string, what: string): JackinError {
  return new JackinError({
    code: 'ROLE_CHANGED',
    message: `The role in ${directory} changed while it was used: ${what}.`,
    hint: 'Run the same `jackin load` again: it takes the role as it is now.',
    details: { directory, what },
  });
}
