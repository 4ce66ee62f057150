import { join } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import type { PathView } from '../types.ts';
import { partsOf } from './tree-path.ts';

/** A mount of the recipe, shared or isolated. */
export interface WantedMount {
  src: string;
  dst: string;
  isolation: 'shared' | 'worktree' | 'clone';
  readonly: boolean;
}

export interface ContainerMount {
  source: string;
  target: string;
  readonly: boolean;
}

export interface ContainerView {
  /** Parents before children. */
  mounts: ContainerMount[];
  /** To be written before the container is made. */
  files: { path: string; content: string }[];
  /** For every process in the container. */
  env: Record<string, string>;
  /** What the places that hold git files are called on either side. */
  views: PathView[];
}

/** What may not be written there unless a record says otherwise (`prepareContainerView`). */
const PROTECTED = ['config', 'hooks', 'info', 'modules'];

/** The same in the own registration. */
const FIXED = ['commondir', 'locked'];

/**
 * What a container needs so that git works in its trees at their paths there, while the host's registration stays
 * valid and its configuration, hooks and other worktrees cannot be written (docs/isolation.md#worktree). Pure.
 * @param dirs.overrides where the pointer files lie that are mounted over those of the tree
 */
export function containerMounts(
  records: readonly IsolationRecord[],
  mounts: readonly WantedMount[],
  dirs: { overrides: string },
): ContainerView {
  const view: ContainerView = { mounts: [], files: [], env: {}, views: [] };
  const safe: string[] = [];
  for (const mount of mounts) {
    const record = mount.isolation === 'shared' ? undefined : recordOf(records, mount.dst);
    // An isolated mount whose tree is not recorded is the caller's to refuse: its source is never shared instead.
    if (record === undefined && mount.isolation !== 'shared') continue;
    const source = record?.worktree_path ?? mount.src;
    view.mounts.push({ source, target: mount.dst, readonly: mount.readonly });
    if (record === undefined) continue;
    safe.push(mount.dst);
    view.views.push({ inside: mount.dst, host: record.worktree_path });
    if (record.isolation === 'worktree') safe.push(addWorktree(view, record, dirs.overrides));
  }
  view.mounts.sort((a, b) => a.target.length - b.target.length || (a.target < b.target ? -1 : 1));
  if (safe.length > 0) view.env = settingsIn(safe, records);
  return view;
}

/** Where the common directory of a worktree mount is in its container. */
function commonDirInside(dst: string): string {
  return join('/jackin/host', ...partsOf(dst), '.git');
}

function addWorktree(view: ContainerView, record: IsolationRecord, overrides: string): string {
  const { mount_dst: dst, git_common_dir: common, registration = record.container_name } = record;
  const inside = commonDirInside(dst);
  if (common === undefined) return inside;
  const adminInside = join(inside, 'worktrees', registration);
  const admin = join(common, 'worktrees', registration);
  const own = join(overrides, ...partsOf(dst));
  const perWorktree = record.protected_paths?.includes('config.worktree') === true;
  const pointer = { path: join(own, 'tree.gitfile'), content: `gitdir: ${adminInside}\n` };
  const back = { path: join(own, 'admin.gitdir'), content: `${join(dst, '.git')}\n` };
  const readonly = (source: string, target: string) => ({ source, target, readonly: true });
  view.mounts.push(
    { source: common, target: inside, readonly: false },
    ...(record.protected_paths ?? PROTECTED).map((name) => readonly(join(common, name), join(inside, name))),
    // As a whole, so that no registration can be pruned; on top of it the own one can be written.
    readonly(join(common, 'worktrees'), join(inside, 'worktrees')),
    { source: admin, target: adminInside, readonly: false },
    readonly(pointer.path, join(dst, '.git')),
    readonly(back.path, join(adminInside, 'gitdir')),
    // Where the repository is, and that it is locked, is not the container's to change.
    ...[...FIXED, ...(perWorktree ? ['config.worktree'] : [])].map((name) =>
      readonly(join(admin, name), join(adminInside, name)),
    ),
  );
  view.files.push(pointer, back);
  view.views.push({ inside, host: common });
  return inside;
}

function settingsIn(safe: readonly string[], records: readonly IsolationRecord[]): Record<string, string> {
  const worktree = records.some(({ isolation }) => isolation === 'worktree');
  const settings = [
    ...safe.map((path) => ['safe.directory', path]),
    ['gc.worktreePruneExpire', 'never'],
    // A repository that is shared is packed by its owner.
    ...(worktree
      ? [
          ['gc.auto', '0'],
          ['maintenance.auto', 'false'],
        ]
      : []),
  ];
  return {
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key = '', value = ''], number) => [
        [`GIT_CONFIG_KEY_${number}`, key],
        [`GIT_CONFIG_VALUE_${number}`, value],
      ]),
    ),
  };
}

function recordOf(records: readonly IsolationRecord[], dst: string): IsolationRecord | undefined {
  return records.find(({ mount_dst }) => mount_dst === dst);
}
