import { JackinError } from '@jackin/core';

/** What is wrong with one place of a role. */
export interface RoleIssue {
  /** Where in the file, e.g. `docker.dind`; empty for the whole file. */
  key: string;
  reason: string;
  /** Counted from 1; absent where it is not known. */
  line?: number | null;
}

/** One error for everything that is wrong with one file of a role; `fix` is a sentence. */
export function roleInvalid(file: string, issues: RoleIssue | RoleIssue[], fix: string): JackinError {
  const all = Array.isArray(issues) ? issues : [issues];
  const told = all.map(({ key, reason, line }, at) => {
    const text = key === '' ? reason : `${key}: ${reason}`;
    return at > 0 && line ? `${text} (line ${line})` : text;
  });
  const line = all[0]?.line ?? null;
  return new JackinError({
    code: 'ROLE_INVALID',
    message: `${file}${line === null ? '' : `:${line}`}: ${told.join('; ')}.`,
    hint: `${fix} Then run the command again.`,
    details: { file, key: all[0]?.key ?? '', line, problems: all, fix },
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

/** A manifest whose version is none, or not the one its content needs. `hint` is the next thing to do. */
export function roleVersion(
  file: string,
  told: string,
  hint: string,
  details: { version: unknown; key?: string; needs?: string },
): JackinError {
  return new JackinError({
    code: 'ROLE_VERSION',
    message: `${file} ${told}.`,
    hint,
    details: { file, ...details, version: details.version ?? null },
  });
}

/**
 * What is wrong with a role whose files come from a repository is corrected there: its copy in the cache is not the
 * place to edit. Errors about anything else come back as they are.
 */
export function fromRepository(error: unknown, { git, commit }: { git: string; commit: string }): unknown {
  if (
    !(error instanceof JackinError) ||
    !['ROLE_INVALID', 'ROLE_VERSION', 'ROLE_UNSUPPORTED'].includes(error.code)
  ) {
    return error;
  }
  const { code, details, exitCode } = error;
  const old = code === 'ROLE_VERSION' && typeof details.needs === 'string';
  return new JackinError({
    code,
    message: `${error.message} (${git} at ${commit.slice(0, 7)})`,
    hint: `${old ? 'Run `jackin role migrate DIR` in a clone' : 'Correct it in a clone'} of ${git} and push it, or name such a clone in config.toml with path = "/absolute/path". The cached copy is not read again before the repository changes.`,
    details: { ...details, git, commit },
    cause: error,
    exitCode,
  });
}
