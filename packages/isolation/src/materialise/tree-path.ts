import { isAbsolute, join, resolve, sep } from 'node:path';
import { JackinError } from '@jackin/core';
import type { IsolationRecord } from '@jackin/instance';

/** Where the tree of a mount lies (docs/storage.md). @param instanceDir the instance's data directory */
export function treePathOf(
  instanceDir: string,
  kind: 'worktree' | 'clone',
  dst: string,
  container: string,
): string {
  return join(instanceDir, 'git', kind, 'repo', ...partsOf(dst), container);
}

/**
 * The directory a recorded tree may be removed from: the `repo` directory of its kind, in its instance.
 * @throws JackinError `PATH_OUTSIDE` when the recorded path is none of these
 */
export function treeHome({
  worktree_path: path,
  isolation,
  mount_dst,
  container_name,
}: IsolationRecord): string {
  const below = join(...partsOf(mount_dst), container_name);
  const home = path.endsWith(sep + below) ? path.slice(0, -below.length - 1) : '';
  const expected = join(sep, 'git', isolation, 'repo');
  if (isAbsolute(path) && resolve(path) === path && home.endsWith(expected)) return home;
  throw new JackinError({
    code: 'PATH_OUTSIDE',
    message: `${JSON.stringify(path)} is not where a ${isolation} of an instance lies, so it is not touched.`,
    hint: `Look at it with: ls -la ${JSON.stringify(path)}`,
    details: { path, mount_dst },
  });
}

/** The instance's data directory. @param home what {@link treeHome} answers */
export function instanceOf(home: string): string {
  return resolve(home, '..', '..', '..');
}

/** A destination as a relative path. */
export function partsOf(dst: string): string[] {
  return resolve('/', dst)
    .split('/')
    .filter((part) => part !== '');
}
