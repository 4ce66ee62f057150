import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { errorCode, fileSystemError, JackinError } from '@jackin/core';
import { type ConfigSource, configInvalid, locate } from './errors.ts';
import { expandHome, isInside, type MountSpec, mountIssues, parseMount } from './mounts.ts';
import type { WorkspaceConfig } from './schema/workspace.ts';
import type { LoadedConfig, Target } from './types.ts';

export interface TargetInput {
  /** A workspace's name, `path`, `path:dst` (either with `:ro`), or null for the current directory. */
  target: string | null;
  cwd: string;
  loaded: LoadedConfig;
  /** Default: the user's. */
  home?: string;
}

/**
 * Finds what TARGET means (docs/configuration.md#targets). A workspace's name wins over a directory of that name;
 * without TARGET the workspace with the longest mount source around the current directory wins.
 * @throws JackinError `TARGET_NOT_FOUND`, `TARGET_NOT_A_DIRECTORY`, `TARGET_AMBIGUOUS`, `MOUNT_INVALID`,
 *   `MOUNT_SOURCE_MISSING`, `CONFIG_INVALID` when the workspace's own mounts contradict each other
 */
export async function resolveTarget(input: TargetInput): Promise<Target> {
  const { target, cwd, loaded } = input;
  const home = input.home ?? homedir();
  if (target === null) {
    const here = await canonicalDirectory(cwd, loaded);
    const name = await workspaceAround(here, loaded, home);
    return name === null ? adHoc(here, null, false) : workspaceTarget(name, loaded, home);
  }
  if (loaded.workspaces.has(target)) return workspaceTarget(target, loaded, home);
  const whole = resolve(cwd, expandHome(target, home));
  if (!target.includes(':') || (await canonical(whole)) !== null) {
    return adHoc(await canonicalDirectory(whole, loaded), null, false);
  }
  const mount = parseMount(target, { cwd, home });
  const host = await canonicalDirectory(mount.src, loaded);
  return adHoc(host, mount.dst === mount.src ? null : mount.dst, mount.readonly);
}

function adHoc(hostDir: string, dst: string | null, readonly: boolean): Target {
  const workdir = dst ?? hostDir;
  const mounts: MountSpec[] = [{ src: hostDir, dst: workdir, isolation: 'shared', readonly }];
  return { workspaceName: null, label: hostDir, workdir, hostDir, mounts, workspace: null };
}

/**
 * The mounts of `[docker.mounts]`, the workspace's over global ones of the same name: every session in a container has
 * them besides those of its target (docs/configuration.md#mounts-for-every-session).
 * @throws JackinError `MOUNT_SOURCE_MISSING`
 */
export async function configuredMounts(
  loaded: Pick<LoadedConfig, 'config' | 'sources'>,
  target: Pick<Target, 'workspaceName' | 'workspace'>,
  home: string = homedir(),
): Promise<MountSpec[]> {
  const global = Object.entries(loaded.config.docker.mounts ?? {});
  const own = Object.entries(target.workspace?.docker.mounts ?? {});
  const ownSource = sourceOf(loaded, target.workspaceName);
  const named = new Map([
    ...global.map(([name, mount]) => [name, { mount, source: loaded.sources?.config }] as const),
    ...own.map(([name, mount]) => [name, { mount, source: ownSource }] as const),
  ]);
  return Promise.all(
    [...named].map(async ([name, { mount, source }]): Promise<MountSpec> => {
      const src = await canonical(resolve(expandHome(mount.src, home)));
      if (src === null) {
        throw sourceMissing(null, mount.src, source, ['docker', 'mounts', name, 'src']);
      }
      const dst = resolve(expandHome(mount.dst, home));
      return { src, dst, isolation: 'shared', readonly: mount.readonly };
    }),
  );
}

async function workspaceTarget(name: string, loaded: LoadedConfig, home: string): Promise<Target> {
  const workspace = loaded.workspaces.get(name) as WorkspaceConfig;
  const source = sourceOf(loaded, name) ?? {
    file: `workspace ${JSON.stringify(name)}`,
    text: '',
    prefix: [],
  };
  const issues = mountIssues(workspace);
  if (issues.length > 0) throw configInvalid(source.file, locate(source, issues));
  const mounts: MountSpec[] = [];
  for (const [index, { src, dst, isolation, readonly }] of workspace.mounts.entries()) {
    const from = await canonical(resolve(expandHome(src, home)));
    if (from === null) {
      throw sourceMissing(name, src, source, ['mounts', index, 'src']);
    }
    mounts.push({ src: from, dst: resolve(expandHome(dst, home)), isolation, readonly });
  }
  const workdir = resolve(expandHome(workspace.workdir, home));
  const hostDir = await canonicalDirectory(hostPathOf(workdir, mounts), loaded);
  return { workspaceName: name, label: name, workdir, hostDir, mounts, workspace };
}

function sourceOf({ sources }: Pick<LoadedConfig, 'sources'>, name: string | null): ConfigSource | undefined {
  return name === null ? undefined : sources?.workspaces.get(name);
}

/** The innermost mount around the workdir; a workdir above all mounts stands for the first of them. */
function hostPathOf(workdir: string, mounts: MountSpec[]): string {
  const [innermost] = mounts
    .filter(({ dst }) => isInside(workdir, dst))
    .sort((a, b) => b.dst.length - a.dst.length);
  if (innermost !== undefined) return join(innermost.src, relative(innermost.dst, workdir));
  return (mounts.find(({ dst }) => isInside(dst, workdir)) as MountSpec).src;
}

async function workspaceAround(here: string, loaded: LoadedConfig, home: string): Promise<string | null> {
  const found: { name: string; length: number }[] = [];
  for (const [name, workspace] of loaded.workspaces) {
    for (const mount of workspace.mounts) {
      const source = await canonical(resolve(expandHome(mount.src, home)));
      if (source !== null && isInside(here, source)) found.push({ name, length: source.length });
    }
  }
  const longest = Math.max(...found.map(({ length }) => length));
  const names = [...new Set(found.filter(({ length }) => length === longest).map(({ name }) => name))];
  if (names.length > 1) throw ambiguous(here, names);
  return names[0] ?? null;
}

async function canonicalDirectory(path: string, loaded: LoadedConfig): Promise<string> {
  const real = await canonical(path);
  if (real === null) {
    const names = [...loaded.workspaces.keys()];
    throw new JackinError({
      code: 'TARGET_NOT_FOUND',
      message: `There is no workspace and no directory ${JSON.stringify(path)}.`,
      hint: names.length === 0 ? 'Name a directory that exists.' : `Workspaces: ${names.join(', ')}`,
      details: { path, workspaces: names },
    });
  }
  if ((await stat(real)).isDirectory()) return real;
  throw new JackinError({
    code: 'TARGET_NOT_A_DIRECTORY',
    message: `${JSON.stringify(path)} is not a directory.`,
    hint: 'Name a directory or a workspace.',
    details: { path },
  });
}

async function canonical(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
    throw fileSystemError(error, path, 'read');
  }
}

/** @param workspace null for a mount of every session */
function sourceMissing(
  workspace: string | null,
  src: string,
  source: ConfigSource | null | undefined,
  path: (string | number)[],
): JackinError {
  const [place] = source ? locate(source, [{ path, reason: '' }]) : [];
  const key = place?.key ?? path.join('.');
  const line = place?.line ?? null;
  const file = source?.file ?? null;
  const who = workspace === null ? key : `Workspace ${JSON.stringify(workspace)}`;
  const where = file === null ? '' : ` (${line === null ? file : `${file}:${line}`})`;
  return new JackinError({
    code: 'MOUNT_SOURCE_MISSING',
    message: `${who} mounts ${JSON.stringify(src)}, which does not exist${where}.`,
    hint: `Create it (mkdir -p ${src}) or remove the mount from the configuration.`,
    details: { workspace, src, file, key, line },
  });
}

function ambiguous(directory: string, names: string[]): JackinError {
  return new JackinError({
    code: 'TARGET_AMBIGUOUS',
    message: `${JSON.stringify(directory)} belongs to several workspaces: ${names.join(', ')}.`,
    hint: `Name one of them, for example: jackin load ROLE ${names[0]}`,
    details: { directory, workspaces: names },
    exitCode: 3,
  });
}
