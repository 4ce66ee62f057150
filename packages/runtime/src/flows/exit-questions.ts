import type { ExitDecision } from '../decide/decide-exit.ts';
import type { InstanceFacts } from '../facts.ts';
import type { SessionIdentityView } from '../prompts.ts';
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
  const mounts = unfinished.map(({ kind, mount_dst, verdict, reason: why }) => ({
    kind,
    mount_dst,
    verdict,
    lines: [why],
  }));
  if ((await world.prompts.acknowledgeUnfinished({ session, mounts })) === 'abort') {
    return { choice: 'abort', shown };
  }
  const choice = await world.prompts.chooseEnd({
    session,
    headline: reason,
    removes: [...mounts.map(({ kind, mount_dst }) => `the ${kind} ${mount_dst}`), 'all instance state'],
  });
  return { choice, shown };
}

/** Who a question is about. */
function identityView({ manifest, container_base }: InstanceFacts): SessionIdentityView {
  return {
    role: manifest.role_key,
    agent: manifest.agent_runtime,
    workspace: manifest.workspace_label,
    container_base,
  };
}

/** The verdicts of all isolated mounts, comparable. */
export function verdictsOf(facts: InstanceFacts): string {
  return JSON.stringify(facts.isolated.map(({ mount_dst, verdict }) => [mount_dst, verdict]));
}
