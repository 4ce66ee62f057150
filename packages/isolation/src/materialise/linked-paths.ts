import { join, relative, sep } from 'node:path';
import type { IsolationRecord } from '@jackin/instance';
import type { ContainerMount } from './container-mounts.ts';
import { PLACED } from './prepare-container-view.ts';
import { linkedRepository } from './refusals.ts';
import { look } from './source-directory.ts';

/** What is mounted read-only over a repository in a container, where it is there. */
const PROTECTED = ['config', 'config.worktree', ...PLACED, 'worktrees'];

/**
 * The first of them that is a link, or null. A mount lands where a link leads, in the container as on the host: the link
 * itself stays writable, and what it leads to is handed over.
 * @param more other paths below it, such as a directory of hooks
 */
export async function linkedPath(commonDir: string, more: readonly string[] = []): Promise<string | null> {
  for (const name of [...PROTECTED, ...more]) {
    const link = await linkBelow(commonDir, name);
    if (link !== null) return link;
  }
  return null;
}

/**
 * Before each start: the engine follows links anew each time, and an agent may have made one.
 * @throws JackinError `SOURCE_LINKED`; the system's error for what cannot be looked at
 */
export async function refuseLinkedMounts(
  records: readonly IsolationRecord[],
  mounts: readonly ContainerMount[],
): Promise<void> {
  for (const record of records) {
    const { git_common_dir: common, original_src: src, mount_dst: dst } = record;
    if (common === undefined) continue;
    for (const { source } of mounts) {
      if (!source.startsWith(common + sep)) continue;
      const link = await linkBelow(common, relative(common, source));
      if (link !== null) throw linkedRepository({ src, dst }, link);
    }
  }
}

/** Looked at step by step, so that no link is followed. What is not there is the engine's to refuse. */
async function linkBelow(from: string, path: string): Promise<string | null> {
  let at = from;
  for (const part of path.split(sep)) {
    at = join(at, part);
    if ((await look(at))?.isSymbolicLink() === true) return at;
  }
  return null;
}
