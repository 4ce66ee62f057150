import { JackinError } from '@jackin/core';
import type { Divergence } from '@jackin/isolation';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
import type { StepDraft } from './plan-parts.ts';

/** What has to be done about the trees of an instance before something starts in them. */
export type RestoreTrees =
  | { outcome: 'ok'; steps: StepDraft[]; notes: string[] }
  /** Files that were not committed do not come back: only with consent. */
  | { outcome: 'needs_consent'; reason: string; steps: StepDraft[]; notes: string[] }
  | { outcome: 'blocked'; error: JackinError };

/**
 * The divergence table (docs/isolation.md#divergence): what is as it was, or was only gone on from, is used; a
 * registration is repaired after saying so; anything else blocks, and no tree is ever made again over what is there.
 * @param source where the operator says that a repository is now that was moved
 */
export function restoreTrees(facts: InstanceFacts, source: string | null = null): RestoreTrees {
  const steps: StepDraft[] = [];
  const notes: string[] = [];
  const lost: string[] = [];
  for (const mount of facts.isolated) {
    const { mount_dst } = mount;
    if (mount.record?.making === true) return { outcome: 'blocked', error: neverFinished(facts, mount) };
    const divergence = mount.divergence ?? null;
    if (divergence === null || divergence.state === 'unchanged') continue;
    if (divergence.state === 'ahead') {
      notes.push(
        `${mount_dst}: the repository has ${counted(divergence.commits)} since; the tree stays as it is`,
      );
      continue;
    }
    if (divergence.state === 'registration_missing') {
      notes.push(`${mount_dst}: ${divergence.reason}; its registration is repaired`);
      steps.push({
        op: 'repair_registration',
        mount_dst,
        source: null,
        creates: [`registration of the worktree ${mount_dst}`],
      });
      continue;
    }
    if (divergence.state === 'source_missing' && source !== null) {
      notes.push(`${mount_dst}: its repository was at ${divergence.source} and is at ${source} now`);
      steps.push({
        op: 'repair_registration',
        mount_dst,
        source,
        creates: [`registration of the worktree ${mount_dst} in ${source}`],
      });
      continue;
    }
    if (divergence.state === 'tree_missing' && divergence.branch !== null && divergence.commit !== null) {
      const { branch, commit } = divergence;
      lost.push(
        `the worktree ${mount_dst} is gone; its branch ${branch} is there at ${commit.slice(0, 12)}, so what was committed can be checked out again at ${mount.path}; files that were not committed do not come back`,
      );
      steps.push({
        op: 'recreate_tree',
        mount_dst,
        branch,
        commit,
        creates: [`worktree ${mount_dst} again, from ${branch}`],
      });
      continue;
    }
    return { outcome: 'blocked', error: diverged(facts, mount, divergence) };
  }
  if (lost.length === 0) return { outcome: 'ok', steps, notes };
  return { outcome: 'needs_consent', reason: lost.join('; '), steps, notes };
}

function neverFinished(
  { container_base: base, instance_id: id }: InstanceFacts,
  mount: IsolatedMountFact,
): JackinError {
  return new JackinError({
    code: 'SETUP_INCOMPLETE',
    message: `The launch of ${base} was interrupted while its ${mount.kind} ${mount.mount_dst} was made; no agent has worked in it`,
    hint: `Remove it with: jackin purge ${id} --yes - and start a new session: jackin load --new`,
    details: { mount_dst: mount.mount_dst, path: mount.path },
  });
}

function counted(commits: number): string {
  return `${commits} new commit${commits === 1 ? '' : 's'}`;
}

type Blocking = Exclude<Divergence, { state: 'unchanged' | 'ahead' | 'registration_missing' }>;

function diverged(facts: InstanceFacts, mount: IsolatedMountFact, divergence: Blocking): JackinError {
  const { code, why, hint } = told(facts.instance_id, mount, divergence);
  return new JackinError({
    code,
    message: `${facts.container_base} cannot go on in ${mount.mount_dst}: ${why}. Nothing was changed; its files are in ${mount.path}`,
    hint: `${hint} Or start a new session: jackin load --new`,
    details: { mount_dst: mount.mount_dst, path: mount.path, divergence },
  });
}

function told(
  id: string,
  mount: IsolatedMountFact,
  divergence: Blocking,
): { code: string; why: string; hint: string } {
  switch (divergence.state) {
    case 'rewritten': {
      const { base, branch, commit } = divergence;
      const now = commit === null ? 'is gone' : `is at ${commit.slice(0, 12)} now`;
      return {
        code: 'SOURCE_DIVERGED',
        why: `the repository was rewritten: ${branch} ${now} and does not contain ${base.slice(0, 12)}, which the tree was made from`,
        hint: `Save what you need from the tree, for example: git -C '${mount.path}' log`,
      };
    }
    case 'branch_elsewhere':
      return {
        code: 'BRANCH_IN_USE',
        why: `its branch ${divergence.branch} is checked out in ${divergence.worktree}`,
        hint: `Free it, then run the same command again: git -C '${divergence.worktree}' switch --detach`,
      };
    case 'source_missing':
      return {
        code: 'SOURCE_MISSING',
        why: `the source repository ${divergence.source} was moved or deleted (${divergence.reason})`,
        hint: `Put it back; if it was moved: jackin resume ${id} --source NEW_PATH`,
      };
    case 'tree_missing':
      return {
        code: 'TREE_MISSING',
        why: `the ${mount.kind} ${divergence.path} is gone, and no branch of it is left`,
        hint: 'Put the directory back, then run the same command again.',
      };
    case 'unknown':
      return {
        code: 'SOURCE_UNKNOWN',
        why: `its repository could not be looked at: ${divergence.reason}`,
        hint: 'Run the same command again.',
      };
  }
}
