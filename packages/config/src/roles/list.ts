import { toJackinError } from '@jackin/core';
import { cachedCheckout } from './repository.ts';
import { peekRole, type RoleOptions, roleEntry, shippedRoles } from './resolve.ts';

export interface RoleRow {
  key: string;
  kind: 'shipped' | 'path' | 'git';
  /** The directory, or the address of the repository. */
  source: string;
  /** Directories are the operator's own, and those that come with jackin are ours. */
  trusted: boolean;
  /** Of a repository: the commit that is cached, and when it was last asked for; null: never. */
  cached: { commit: string; checked_at: string } | null;
  display_name: string | null;
  /** Null while the manifest is not known. */
  agents: string[] | null;
  /** What would keep it from being used. */
  problem: { code: string; message: string; hint: string | null } | null;
}

/**
 * Every role that can be named, with what is known of it without asking a repository; one that is broken is a row with
 * its problem (docs/roles.md).
 */
export async function listRoles(options: RoleOptions): Promise<RoleRow[]> {
  const { roles } = options.loaded.config;
  const configured = Object.keys(roles).filter((key) => roles[key]?.git ?? roles[key]?.path);
  const keys = new Set([...(await shippedRoles(options.shippedRoles)), ...configured]);
  return Promise.all([...keys].sort().map((key) => rowOf(key, options)));
}

async function rowOf(key: string, options: RoleOptions): Promise<RoleRow> {
  const configured = options.loaded.config.roles[key];
  const unread: RoleRow = {
    key,
    kind: configured?.git === undefined ? (configured?.path === undefined ? 'shipped' : 'path') : 'git',
    source: configured?.path ?? '',
    trusted: configured?.git === undefined || configured.trusted,
    cached: null,
    display_name: null,
    agents: null,
    problem: null,
  };
  let row = unread;
  try {
    const entry = await roleEntry(key, options);
    row = { ...row, kind: entry.kind, source: entry.kind === 'git' ? entry.git.url : entry.dir };
    const cached = entry.kind === 'git' ? await cachedCheckout(entry.git, null, options.paths) : null;
    if (cached !== null) row = { ...row, cached: { commit: cached.commit, checked_at: cached.checkedAt } };
    const role = await peekRole(key, options);
    return role === null
      ? row
      : { ...row, display_name: role.manifest.display_name, agents: role.manifest.agents };
  } catch (error) {
    const { code, message, hint } = toJackinError(error);
    return { ...row, problem: { code, message, hint: hint ?? null } };
  }
}
