import { existsSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { assess } from '@jackin/isolation';
import type { Exit } from './history.ts';
import { plainGit } from './plain-git.ts';
import type { SessionTree } from './world.ts';

/** What jackin decides of a tree: a clean one goes, any other stays with the reason. */
export const assessExit: Exit = async (tree) => {
  const { verdict, reason } = await assess(tree.path, {
    base: tree.base,
    refsAtLaunch: tree.refsAtLaunch,
    expected: {
      kind: tree.kind,
      commonDir: tree.kind === 'worktree' ? tree.commonDir : null,
      scratchBranch: tree.scratchBranch,
    },
  });
  if (verdict === 'clean') removeWithGit(tree);
  return `${verdict}: ${reason}`;
};

/** The tree, its registration and its branch, and nothing else. */
export function removeWithGit({ path, kind, host, scratchBranch }: SessionTree): void {
  const admin =
    kind === 'worktree'
      ? resolve(path, readFileSync(`${path}/.git`, 'utf8').slice('gitdir: '.length).trim())
      : null;
  rmSync(path, { recursive: true, force: true });
  if (admin === null) return;
  if (existsSync(admin)) rmSync(admin, { recursive: true });
  plainGit()(host, ['update-ref', '-d', `refs/heads/${scratchBranch}`]);
}
