import type { Lock, Tri } from '@jackin/core';
import {
  agentInContainer,
  type Classification,
  classifyAgentEnd,
  classifyExit,
} from '../decide/classify-exit.ts';
import { decideExit, type ExitDecision } from '../decide/decide-exit.ts';
import type { ExitPolicy } from '../decide/exit-policy-table.ts';
import type { AgentEnd } from '../decide/judge-end.ts';
import type { InstanceFacts } from '../facts.ts';
import type { EndDocument } from '../jackin.ts';
import { endDocument } from './end-document.ts';
import { act, leaveUndecided, recordEnd } from './exit-actions.ts';
import { askForEnd, type ExitAnswer, verdictsOf } from './exit-questions.ts';
import { withInstanceLock } from './locking.ts';
import type { World } from './world.ts';

export interface ExitFlowOptions {
  policy: ExitPolicy;
  /** How the agent ended before our eyes; null when it has to be found out. */
  seen: AgentEnd | null;
  /** What has to happen first under the same lock, such as stopping what runs. */
  before?: (lock: Lock) => Promise<void>;
  /** Record the end and decide nothing: nobody saw it. */
  recordOnly?: boolean;
}

/**
 * The exit flow (docs/status-and-causes.md#exit-decision): look, decide, ask where the policy says so, look again under
 * the lock, act. `return`: the operator wants the agent back.
 * @throws JackinError LOCK_HELD after a bounded wait, and what the plans refuse or the executor fails with
 */
export async function runExitFlow(
  world: World,
  base: string,
  options: ExitFlowOptions,
): Promise<EndDocument | 'return'> {
  let answer: ExitAnswer | null = null;
  let before = options.before;
  for (;;) {
    const purpose = 'end the session';
    const turn: Turn = await withInstanceLock(world, base, { purpose }, async (lock) => {
      await before?.(lock);
      before = undefined;
      return decideAndAct({ world, base, lock, options, answer });
    });
    if ('document' in turn) return turn.document;
    answer = await askForEnd(world, turn.facts, turn.question);
    if (answer.choice === 'return') return 'return';
  }
}

type Turn =
  | { document: EndDocument }
  | { facts: InstanceFacts; question: Extract<ExitDecision, { action: 'ask' }> };

interface TurnInput {
  world: World;
  base: string;
  lock: Lock;
  options: ExitFlowOptions;
  answer: ExitAnswer | null;
}

async function decideAndAct(input: TurnInput): Promise<Turn> {
  const { world, base, lock, options, answer } = input;
  const facts = await world.lookAt(base, undefined, 'assess');
  if (facts === null) return { document: removedMeanwhile(base) };
  const classification = classify(facts, options.seen, world.now());
  const action = { world, lock, facts, policy: options.policy, seen: options.seen };
  const others = othersAlive(facts);
  if (answer?.choice === 'abort' && others === 'no') {
    return { document: await leaveUndecided(action, classification) };
  }
  if (options.recordOnly === true && classification.outcome === 'ended') {
    return { document: await recordEnd(action, classification) };
  }
  const decision = decideExit({
    classification,
    policy: options.policy,
    canAsk: world.prompts.available,
    isolated: facts.isolated,
    otherSessionsAlive: others,
    choice: standingChoice(answer, facts),
  });
  if (decision.action === 'ask') return { facts, question: decision };
  return { document: await act(action, classification, decision) };
}

/** A clean-up was chosen for the work that was shown and for no other; to keep is right whatever it is now. */
function standingChoice(answer: ExitAnswer | null, facts: InstanceFacts): 'keep' | 'clean' | null {
  if (answer?.choice === 'keep') return 'keep';
  return answer?.choice === 'clean' && answer.shown === verdictsOf(facts) ? 'clean' : null;
}

/** What an attached client saw counts while the capsule waits for the decision; afterwards its own record does. */
function classify(facts: InstanceFacts, seen: AgentEnd | null, now: string): Classification {
  const waits = facts.observation.container.state === 'running';
  return seen !== null && waits ? classifyAgentEnd(seen, facts, now) : classifyExit(facts, now);
}

function othersAlive(facts: InstanceFacts): Tri {
  const agent = agentInContainer(facts);
  if (agent === 'unknown') return 'unknown';
  return agent === 'alive' ? 'yes' : 'no';
}

function removedMeanwhile(base: string): EndDocument {
  const identity = { instance_id: base.split('-')[1] ?? base, container_base: base };
  return endDocument(identity, 'cleaned', { evidence: ['it was removed by another jackin meanwhile'] });
}
