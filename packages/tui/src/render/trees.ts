import { type AssessDocument, ignoredLines, type MountDocument, treeLines } from '@jackin/runtime';
import { lines, painter, printable, type Style, type TextOptions } from '../text.ts';

const STYLES: Record<MountDocument['verdict'], Style> = {
  clean: 'green',
  dirty: 'yellow',
  unpushed: 'yellow',
  unknown: 'red',
};

/** `jackin assess`: the verdict, then everything that was found. */
export function renderAssess(document: AssessDocument, options: TextOptions): string {
  const { path, kind, verdict, reason } = document;
  return lines(
    `${kind}  ${printable(path)}  ${painter(options.color)(STYLES[verdict], verdict)}: ${printable(reason)}`,
    treeLines(document)
      .filter((line) => line !== reason)
      .map((line) => `  ${printable(line)}`),
  );
}

/** Worktrees and clones below the head of an instance or of its end. */
export function mountLines(mounts: readonly MountDocument[]): string[] {
  return mounts.flatMap((mount) => [
    printable(`${mount.kind}  ${mount.mount_dst}  ${mount.verdict}: ${mount.reason}`),
    ...treeLines(mount)
      .filter((line) => line !== mount.reason)
      .map((line) => `  ${printable(line)}`),
    ...(mount.divergence === null || mount.divergence.state === 'unchanged'
      ? []
      : [printable(`  repository    ${divergenceWords(mount.divergence)}`)]),
  ]);
}

/** The receipt of a clean-up: what was lost with a tree that was not clean, and what is on no list and went with any. */
export function receiptLines(mounts: readonly MountDocument[]): string[] {
  return mounts.flatMap((mount) => {
    if (mount.verdict !== 'clean') return mountLines([mount]);
    const { mount_dst, evidence } = mount;
    return evidence === null
      ? []
      : ignoredLines(evidence.ignored).map((line) => printable(`${mount_dst}  ${line}`));
  });
}

function divergenceWords(divergence: NonNullable<MountDocument['divergence']>): string {
  switch (divergence.state) {
    case 'unchanged':
      return 'as it was';
    case 'ahead':
      return `has ${divergence.commits} new commit${divergence.commits === 1 ? '' : 's'} since`;
    case 'rewritten':
      return `was rewritten: ${divergence.branch} does not contain ${divergence.base.slice(0, 12)} any more`;
    case 'branch_elsewhere':
      return `has ${divergence.branch} checked out in ${divergence.worktree}`;
    case 'registration_missing':
      return `does not know this worktree (${divergence.reason}); a resume repairs that`;
    case 'source_missing':
      return `${divergence.source} was moved or deleted: ${divergence.reason}`;
    case 'tree_missing':
      return divergence.branch === null
        ? 'the tree is gone'
        : `the tree is gone; its branch ${divergence.branch} is at ${divergence.commit?.slice(0, 12) ?? 'an unknown commit'}`;
    case 'unknown':
      return `could not be looked at: ${divergence.reason}`;
  }
}
