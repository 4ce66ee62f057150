import { JackinError } from '@jackin/core';
import { mountDocument } from '../decide/mount-document.ts';
import type { RestorePlan } from '../decide/plan-restore.ts';
import { treeLines } from '../decide/tree-lines.ts';
import type { InstanceFacts } from '../facts.ts';
import { identityView, mountView } from './exit-questions.ts';
import type { World } from './world.ts';

/**
 * What is in the trees a session is about to go on in must be seen first (docs/isolation.md#before-a-resume): asked on a terminal,
 * told where nobody can be asked. A living session is joined without it, and so is one whose trees hold nothing of
 * their own.
 * @throws JackinError RESTORE_DECLINED
 */
export async function verifyTrees(world: World, facts: InstanceFacts, restore: RestorePlan): Promise<void> {
  if (restore.outcome === 'blocked') return;
  const { plan, notes } = restore;
  if (!plan.steps.some(({ op }) => op === 'start_session')) return;
  const mounts = facts.isolated.filter(({ verdict }) => verdict !== 'clean');
  if (mounts.length === 0 && notes.length === 0) return;
  if (!world.prompts.available) return tell(world, facts, notes);
  const answer = await world.prompts.verifyPreserved({
    session: identityView(facts),
    mounts: mounts.map(mountView),
    notes: notes.length > 0 ? notes : ['The repositories are as they were when this session was kept.'],
    cannot_return: plan.did_not_return.map((what) => what.replaceAll('_', ' ')),
  });
  if (answer === 'resume') return;
  throw new JackinError({
    code: 'RESTORE_DECLINED',
    message: `${facts.container_base} was left as it is`,
    hint: `Bring it back later with: jackin resume ${facts.instance_id}`,
  });
}

function tell(world: World, facts: InstanceFacts, notes: readonly string[]): void {
  const lines = facts.isolated
    .filter(({ verdict }) => verdict !== 'clean')
    .flatMap((mount) => [
      `${mount.kind} ${mount.mount_dst}: ${mount.verdict}`,
      ...treeLines(mountDocument(mount)).map((line) => `  ${line}`),
    ]);
  for (const message of [...notes, ...lines]) {
    world.events({ type: 'notice', level: 'info', code: 'PRESERVED_TREE', message });
  }
}
