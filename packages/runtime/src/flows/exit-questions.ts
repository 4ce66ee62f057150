import type { ExitDecision } from '../decide/decide-exit.ts';
import { fingerprintOf, mountDocument } from '../decide/mount-document.ts';
import { treeLines } from '../decide/tree-lines.ts';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
import type { MountView, SessionIdentityView } from '../prompts.ts';
import type { World } from './world.ts';

export interface ExitAnswer {
  choice: 'return' | 'keep' | 'clean' | 'abort';
  /** The verdicts that were on the screen when it was given. */
  shown: string;
}

type ExitQuestion = Extract<ExitDecision, { action: 'ask' }>;

/** Unfinished work is acknowledged first, then the end is chosen. No answer is `abort`: nothing is decided. */
export async function askForEnd(
  world: World,
  facts: InstanceFacts,
  { unfinished, reason }: ExitQuestion,
): Promise<ExitAnswer> {
  const session = identityView(facts);
  const shown = verdictsOf(facts);
  const mounts = unfinished.map(mountView);
  if ((await world.prompts.acknowledgeUnfinished({ session, mounts })) === 'abort') {
    return { choice: 'abort', shown };
  }
  const choice = await world.prompts.chooseEnd({
    session,
    headline: reason,
    removes: [
      ...facts.isolated.map(({ kind, mount_dst }) => `the ${kind} ${mount_dst}`),
      'all instance state',
    ],
  });
  return { choice, shown };
}

/** One tree as a question shows it. */
export function mountView(mount: IsolatedMountFact): MountView {
  const { kind, mount_dst, verdict } = mount;
  return { kind, mount_dst, verdict, lines: treeLines(mountDocument(mount)) };
}

/** Who a question is about. */
export function identityView({ manifest, container_base }: InstanceFacts): SessionIdentityView {
  return {
    role: manifest.role_key,
    agent: manifest.agent_runtime,
    workspace: manifest.workspace_label,
    container_base,
  };
}

/** What was found in all isolated mounts, comparable. */
export function verdictsOf(facts: InstanceFacts): string {
  return JSON.stringify(
    facts.isolated.map((mount) => [mount.mount_dst, mount.verdict, fingerprintOf(mount)]),
  );
}
