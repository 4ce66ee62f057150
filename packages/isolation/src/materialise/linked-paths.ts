import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import type { ContainerMount } from './container-mounts.ts';
import { linkedRepository } from './refusals.ts';
import { look } from './source-directory.ts';

/** What is mounted read-only over a repository in a container, where it is there. */
const PROTECTED = [
  'config',
  'config.worktree',
  'hooks',
  'info',
  'modules',
  'branches',
  'remotes',
  'worktrees',
];

/**
 * The first of them that is a link, or null. A mount lands where a link leads, in the container as on the host: the link
 * itself stays writable, and what it leads to is handed over.
 */
export async function linkedPath(commonDir: string): Promise<string | null> {
  for (const name of PROTECTED) {
    const path = join(commonDir, name);
    if ((await look(path))?.isSymbolicLink() === true) return path;
  }
  return null;
}

/**
 * Before each start: the engine follows links anew each time, and an agent may have made one.
 * @throws JackinError `SOURCE_LINKED`
 */
export async function refuseLinkedMounts(
  records: readonly IsolationRecord[],
  mounts: readonly ContainerMount[],
): Promise<void> {
  for (const record of records) {
    const { git_common_dir: common, original_src: src, mount_dst: dst } = record;
    if (common === undefined) continue;
    const real = await realpath(common).catch(() => common);
    for (const { source } of mounts) {
      if (!source.startsWith(common + sep)) continue;
      const expected = join(real, relative(common, source));
      // What is not there is the engine's to refuse.
      const found = await realpath(source).catch(() => expected);
      if (found !== expected) throw linkedRepository({ src, dst }, source);
    }
  }
}
