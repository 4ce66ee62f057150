import { isAbsolute, relative, resolve, sep } from 'node:path';
import { JackinError } from '@jackin/core';
import type { ConfigIssue } from './errors.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';

export interface MountSpec {
  /** Absolute host path. */
  src: string;
  /** Absolute path as the agent sees it. */
  dst: string;
  isolation: 'shared' | 'worktree' | 'clone';
  readonly: boolean;
}

/** Directories and files that hold credentials, as the end of a path or somewhere in it. */
const CREDENTIAL_SOURCES = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.config/gcloud',
  '.kube',
  '.docker',
  '.config/gh',
  '.netrc',
  '.npmrc',
  '.git-credentials',
];

/**
 * A mount as it is typed: `path[:ro]` or `src:dst[:ro]` (docs/configuration.md#mounts). Only syntax: whether the
 * source exists is looked at when a session starts.
 * @param base what a relative source and `~` are relative to
 * @throws JackinError `MOUNT_INVALID` naming the text
 */
export function parseMount(text: string, base: { cwd: string; home: string }): MountSpec {
  const readonly = text.endsWith(':ro');
  const body = readonly ? text.slice(0, -':ro'.length) : text;
  const split = body.search(/:[/~]/);
  const src = split === -1 ? body : body.slice(0, split);
  const dst = split === -1 ? body : body.slice(split + 1);
  if (src === '') throw mountInvalid(text, 'there is no source');
  if (src.includes(':') || dst.includes(':')) {
    throw mountInvalid(text, 'after a ":" there must be an absolute destination, or "ro" at the end');
  }
  return {
    src: resolve(base.cwd, expandHome(src, base.home)),
    dst: resolve(base.cwd, expandHome(dst, base.home)),
    isolation: 'shared',
    readonly,
  };
}

/** `~` and `~/…` with the home directory put in; other text as it is. */
export function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
}

/** Whether `path` is `directory` or lies inside it. Both absolute and normalised. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Which credential store a source is or lies in, or null. */
export function credentialStoreOf(src: string): string | null {
  const path = `${resolve('/', src)}/`;
  return CREDENTIAL_SOURCES.find((entry) => path.includes(`/${entry}/`)) ?? null;
}

/** What is wrong with a workspace's mounts taken together (docs/configuration.md#mount-rules). */
export function mountIssues(workspace: Pick<WorkspaceConfig, 'workdir' | 'mounts'>): ConfigIssue[] {
  const { workdir, mounts } = workspace;
  const issues: ConfigIssue[] = [];
  const add = (key: string, reason: string) => issues.push({ key, reason });
  if (!isRooted(workdir)) add('workdir', `${JSON.stringify(workdir)} is not an absolute path`);
  for (const [index, mount] of mounts.entries()) {
    const key = `mounts.${index}`;
    for (const end of ['src', 'dst'] as const) {
      if (!isRooted(mount[end]))
        add(`${key}.${end}`, `${JSON.stringify(mount[end])} is not an absolute path`);
    }
    const store = credentialStoreOf(mount.src);
    if (store !== null && mount.isolation !== 'shared') {
      add(`${key}.src`, `${JSON.stringify(mount.src)} holds credentials (${store}) and cannot be isolated`);
    }
    for (const other of mounts.slice(0, index)) {
      const conflict = conflictOf(mount, other);
      if (conflict !== null) add(key, conflict);
    }
  }
  const related = mounts.some(
    ({ dst }) => isInside(norm(workdir), norm(dst)) || isInside(norm(dst), norm(workdir)),
  );
  if (!related) add('workdir', `${JSON.stringify(workdir)} is in no mount and contains none`);
  return issues;
}

type Mount = WorkspaceConfig['mounts'][number];

function conflictOf(mount: Mount, other: Mount): string | null {
  const [dst, otherDst] = [norm(mount.dst), norm(other.dst)];
  if (dst === otherDst) return `there are two mounts at ${JSON.stringify(mount.dst)}`;
  const isolated = mount.isolation !== 'shared' && other.isolation !== 'shared';
  if (isolated && (isInside(dst, otherDst) || isInside(otherDst, dst))) {
    return `the isolated mounts ${JSON.stringify(other.dst)} and ${JSON.stringify(mount.dst)} lie inside each other`;
  }
  const worktrees = mount.isolation === 'worktree' && other.isolation === 'worktree';
  if (worktrees && norm(mount.src) === norm(other.src)) {
    return `two worktree mounts share ${JSON.stringify(mount.src)}; use isolation = "clone" for one of them`;
  }
  return null;
}

function isRooted(path: string): boolean {
  return isAbsolute(path) || path === '~' || path.startsWith('~/');
}

function norm(path: string): string {
  return resolve('/', path);
}

function mountInvalid(text: string, reason: string): JackinError {
  return new JackinError({
    code: 'MOUNT_INVALID',
    message: `${JSON.stringify(text)} is not a mount: ${reason}.`,
    hint: 'Write path, path:ro, src:dst or src:dst:ro, for example ~/notes:/workspace/notes:ro',
    details: { mount: text },
    exitCode: 2,
  });
}
