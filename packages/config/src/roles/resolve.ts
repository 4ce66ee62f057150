import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { errorCode, fileSystemError, JackinError, type JackinPaths } from '@jackin/core';
import { configInvalid, locate } from '../errors.ts';
import type { LoadedConfig } from '../types.ts';
import { openRoleFiles } from './directory.ts';
import { fromRepository, roleNotFound } from './errors.ts';
import { checkBranch, type GitSource, gitSource } from './git-source.ts';
import { ROLE_MANIFEST, type RoleManifest } from './manifest.ts';
import { cachedCheckout, type RepositoryOptions, refreshRepository } from './repository.ts';

/** Where the files of a role come from. */
export type RoleSource =
  | { kind: 'shipped'; name: string }
  | { kind: 'path'; path: string }
  /** `branch` null: the repository's own default. */
  | { kind: 'git'; git: string; branch: string | null; commit: string };

export interface ResolvedRole {
  key: string;
  /** Canonical; of a repository an export of that one commit. */
  dir: string;
  source: RoleSource;
  manifest: RoleManifest;
}

export interface RoleOptions extends Omit<RepositoryOptions, 'paths'> {
  loaded: Pick<LoadedConfig, 'config' | 'sources'>;
  paths: Pick<JackinPaths, 'rolesDir' | 'locksDb' | 'configDir'>;
  /** What `~` means. */
  home: string;
  /** The directory of the roles that come with jackin, each in one of its own name. */
  shippedRoles: string;
  /** Of a repository; default: its own default branch. */
  branch?: string | null | undefined;
  /** The operator agreed to this one launch. */
  trustedOnce?: boolean;
}

/** What the configuration says about a role, before any of its files was looked at. */
export type RoleEntry =
  | { kind: 'shipped'; key: string; dir: string }
  | { kind: 'path'; key: string; dir: string }
  | { kind: 'git'; key: string; git: GitSource; branch: string | null; trusted: boolean };

/**
 * The role of a key, ready to be used (docs/roles.md). A repository has to be trusted, is refreshed when that is due, and
 * is pinned to the commit it is at.
 * @throws JackinError `ROLE_UNKNOWN`, `CONFIG_INVALID`, `ROLE_GIT_INVALID`, `ROLE_NOT_TRUSTED`, `ROLE_UNAVAILABLE`,
 *   `ROLE_NOT_FOUND`, `ROLE_INVALID`, `ROLE_VERSION`, `GIT_MISSING`
 */
export async function resolveRole(key: string, options: RoleOptions): Promise<ResolvedRole> {
  const entry = await roleEntry(key, options);
  if (entry.kind !== 'git') return open(entry);
  if (!entry.trusted && options.trustedOnce !== true) throw notTrusted(entry);
  const ttlSeconds = options.loaded.config.role_repo_refresh_ttl_seconds;
  return openCheckout(entry, await refreshRepository(entry.git, entry.branch, { ...options, ttlSeconds }));
}

/**
 * The same as far as it is known without asking anybody, trusted or not: only the files are read. Null for a repository
 * that was never fetched.
 * @throws JackinError what {@link resolveRole} throws but `ROLE_NOT_TRUSTED` and `ROLE_UNAVAILABLE`
 */
export async function peekRole(key: string, options: RoleOptions): Promise<ResolvedRole | null> {
  const entry = await roleEntry(key, options);
  if (entry.kind !== 'git') return open(entry);
  const cached = await cachedCheckout(entry.git, entry.branch, options.paths);
  return cached === null ? null : openCheckout(entry, cached);
}

/** @throws JackinError `ROLE_UNKNOWN`, `CONFIG_INVALID`, `ROLE_GIT_INVALID`, `ROLE_NOT_FOUND` */
export async function roleEntry(
  key: string,
  options: Pick<RoleOptions, 'loaded' | 'paths' | 'home' | 'shippedRoles' | 'branch'>,
): Promise<RoleEntry> {
  const { config } = options.loaded;
  const configured = Object.hasOwn(config.roles, key) ? config.roles[key] : undefined;
  const { git, path } = configured ?? {};
  const branch = options.branch ?? null;
  if (git !== undefined && path !== undefined) {
    throw bothSources(key, options);
  }
  if (git !== undefined) {
    if (branch !== null) checkBranch(key, branch);
    const source = gitSource(key, expanded(git, options.home) ?? git);
    return { kind: 'git', key, git: source, branch, trusted: configured?.trusted ?? false };
  }
  if (branch !== null) throw noBranches(key);
  if (path !== undefined) {
    const dir = expanded(path, options.home);
    if (dir === null) throw roleNotFound(path, 'the path is not absolute');
    return { kind: 'path', key, dir };
  }
  const shipped = await shippedRoles(options.shippedRoles);
  if (shipped.includes(key)) return { kind: 'shipped', key, dir: join(options.shippedRoles, key) };
  throw unknown(key, [...new Set([...shipped, ...Object.keys(config.roles)])]);
}

/** The names of the roles that come with jackin. */
export async function shippedRoles(directory: string): Promise<string[]> {
  try {
    const names = (await readdir(directory)).sort();
    const found = await Promise.all(
      names.map((name) =>
        lstat(join(directory, name, ROLE_MANIFEST)).then(
          () => true,
          () => false,
        ),
      ),
    );
    return names.filter((_, at) => found[at]);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw fileSystemError(error, directory, 'read');
  }
}

async function open(entry: Exclude<RoleEntry, { kind: 'git' }>): Promise<ResolvedRole> {
  const { dir, manifest } = await openRoleFiles(entry.dir);
  const source: RoleSource =
    entry.kind === 'shipped' ? { kind: 'shipped', name: entry.key } : { kind: 'path', path: entry.dir };
  return { key: entry.key, dir, source, manifest };
}

async function openCheckout(
  { key, git: { url: git }, branch }: Extract<RoleEntry, { kind: 'git' }>,
  { commit, dir: checkout }: { commit: string; dir: string },
): Promise<ResolvedRole> {
  try {
    const { dir, manifest } = await openRoleFiles(checkout);
    return { key, dir, source: { kind: 'git', git, branch, commit }, manifest };
  } catch (error) {
    throw fromRepository(error, { git, commit });
  }
}

function expanded(path: string, home: string): string | null {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? path : null;
}

function bothSources(key: string, { loaded, paths }: Pick<RoleOptions, 'loaded' | 'paths'>): JackinError {
  const source = loaded.sources?.config ?? null;
  const file = source?.file ?? join(paths.configDir, 'config.toml');
  const issue = { path: ['roles', key], reason: 'has both git and path', fix: 'Keep one of the two.' };
  const issues = source === null ? [{ ...issue, key: issue.path.join('.') }] : locate(source, [issue]);
  return configInvalid(file, issues);
}

function notTrusted({ key, git }: Extract<RoleEntry, { kind: 'git' }>): JackinError {
  return new JackinError({
    code: 'ROLE_NOT_TRUSTED',
    message: `The role ${key} comes from ${git.url}, which you have not said you trust: what is in it runs when its image is built and in every session.`,
    hint: `Look at it, then: jackin config trust ${key}`,
    details: { role: key, git: git.url },
    exitCode: 3,
  });
}

function noBranches(key: string): JackinError {
  return new JackinError({
    code: 'ROLE_GIT_INVALID',
    message: `The role ${key} is a directory, so it has no branches.`,
    hint: 'Leave the branch out, or configure the role as a repository: [roles.<key>] git = "https://…".',
    details: { role: key },
    exitCode: 2,
  });
}

function unknown(key: string, known: string[]): JackinError {
  const looksLikePath = /[./~]/.test(key);
  return new JackinError({
    code: 'ROLE_UNKNOWN',
    message: `There is no role ${JSON.stringify(key)}.`,
    hint: looksLikePath
      ? `The role comes first. Did you mean: jackin load agent-smith ${key}`
      : `Known roles: ${known.join(', ')}. Others are configured as [roles.<key>] in config.toml.`,
    details: { role: key, known },
    exitCode: 2,
  });
}
