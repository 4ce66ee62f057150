import { isAbsolute, relative, resolve, sep } from 'node:path';
import { JackinError } from '@jackin/core';
import type { FieldIssue } from './errors.ts';
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
export const credentialStores: readonly string[] = [
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
  return credentialStores.find((entry) => path.includes(`/${entry}/`)) ?? null;
}

/** What is wrong with a workspace's mounts taken together (docs/configuration.md#mount-rules). */
export function mountIssues(workspace: Pick<WorkspaceConfig, 'workdir' | 'mounts'>): FieldIssue[] {
  const { workdir, mounts } = workspace;
  const issues: FieldIssue[] = [];
  const add = (path: FieldIssue['path'], reason: string, fix: string) => issues.push({ path, reason, fix });
  if (!isRooted(workdir)) add(['workdir'], notAbsolute(workdir), absoluteFix('workdir'));
  for (const [index, mount] of mounts.entries()) {
    const at = ['mounts', index];
    for (const end of ['src', 'dst'] as const) {
      if (!isRooted(mount[end])) add([...at, end], notAbsolute(mount[end]), absoluteFix(end));
    }
    const store = credentialStoreOf(mount.src);
    if (store !== null && mount.isolation !== 'shared') {
      const reason = `${JSON.stringify(mount.src)} holds credentials (${store}) and cannot be isolated`;
      add([...at, 'src'], reason, 'Set isolation = "shared" there, or mount another directory.');
    }
    for (const other of mounts.slice(0, index)) {
      const conflict = conflictOf(mount, other);
      if (conflict !== null) add(at, conflict.reason, conflict.fix);
    }
  }
  const related = mounts.some(
    ({ dst }) => isInside(norm(workdir), norm(dst)) || isInside(norm(dst), norm(workdir)),
  );
  if (!related) {
    const reason = `${JSON.stringify(workdir)} is in no mount and contains none`;
    const fix = `Set workdir to ${mounts[0] === undefined ? 'the dst of a mount' : JSON.stringify(mounts[0].dst)}, or add a mount there.`;
    add(['workdir'], reason, fix);
  }
  return issues;
}

/** A path in a configuration file: there is nothing it could be relative to. */
export function isRooted(path: string): boolean {
  return isAbsolute(path) || path === '~' || path.startsWith('~/');
}

export function notAbsolute(path: string): string {
  return `${JSON.stringify(path)} is not an absolute path`;
}

export function absoluteFix(key: string): string {
  return `Write ${key} as a path that begins with "/" or "~/".`;
}

/** Whether two destinations are one place. */
export function samePlace(a: string, b: string): boolean {
  return norm(a) === norm(b);
}

type Mount = WorkspaceConfig['mounts'][number];

function conflictOf(mount: Mount, other: Mount): { reason: string; fix: string } | null {
  const [dst, otherDst] = [norm(mount.dst), norm(other.dst)];
  if (dst === otherDst) {
    const reason = `there are two mounts at ${JSON.stringify(mount.dst)}`;
    return { reason, fix: 'Give one of them another dst, or remove it.' };
  }
  const isolated = mount.isolation !== 'shared' && other.isolation !== 'shared';
  if (isolated && (isInside(dst, otherDst) || isInside(otherDst, dst))) {
    const reason = `the isolated mounts ${JSON.stringify(other.dst)} and ${JSON.stringify(mount.dst)} lie inside each other`;
    return { reason, fix: 'Give one of them a dst outside of the other, or isolation = "shared".' };
  }
  const worktrees = mount.isolation === 'worktree' && other.isolation === 'worktree';
  if (worktrees && norm(mount.src) === norm(other.src)) {
    const reason = `two worktree mounts share ${JSON.stringify(mount.src)}; use isolation = "clone" for one of them`;
    return { reason, fix: 'Set isolation = "clone" for one of them.' };
  }
  return null;
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
