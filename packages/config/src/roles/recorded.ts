import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { roleNotFound } from './errors.ts';
import { gitSource, isGitAddress } from './git-source.ts';
import { checkoutCommit, type RepositoryOptions } from './repository.ts';
import type { RoleSource } from './resolve.ts';

const BUILTIN = 'builtin:';

/** How a launch recipe writes where its role came from. */
export type RecordedRole = {
  /** `builtin:<name>`, an absolute path, or the address of a repository. */
  source: string;
  /** The branch, where one was asked for. */
  ref?: string | null | undefined;
  commit?: string | null | undefined;
};

export function recordedRole(source: RoleSource): RecordedRole {
  switch (source.kind) {
    case 'shipped':
      return { source: `${BUILTIN}${source.name}` };
    case 'path':
      return { source: source.path };
    case 'git':
      return { source: source.git, ref: source.branch, commit: source.commit };
  }
}

/**
 * The directory of the role a recipe recorded: what the configuration says today does not count. Of a repository it is
 * the recorded commit, fetched if it is not there, and never another one (docs/roles.md#what-a-session-remembers).
 * @throws JackinError `ROLE_NOT_FOUND`, `ROLE_UNAVAILABLE`, `GIT_MISSING`, `LOCK_HELD`
 */
export async function locateRole(
  recorded: RecordedRole,
  options: RepositoryOptions & { home?: string; shippedRoles: string },
): Promise<string> {
  const { source, commit } = recorded;
  if (source.startsWith(BUILTIN)) {
    const name = source.slice(BUILTIN.length);
    if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw roleNotFound(source, 'no role of that name is built in');
    return join(options.shippedRoles, name);
  }
  if (isAbsolute(source)) return source;
  if (source === '~' || source.startsWith('~/')) return join(options.home ?? homedir(), source.slice(1));
  if (!isGitAddress(source)) throw roleNotFound(source, 'the path is not absolute');
  if (!commit) throw roleNotFound(source, 'the session does not say which commit of it was used');
  return checkoutCommit(gitSource(source, source), commit, options);
}
