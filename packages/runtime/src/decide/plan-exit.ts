import { JackinError } from '@jackin/core';
import type { InstanceFacts } from '../facts.ts';
import type { Plan } from '../plan.ts';
import { agentInContainer, classifyExit } from './classify-exit.ts';
import { decideExit, type ExitDecision } from './decide-exit.ts';
import type { ExitPolicy } from './exit-policy-table.ts';
import { keptStatus } from './instance-kind.ts';
import type { Ended } from './judge-end.ts';
import { planClean } from './plan-clean.ts';
import { planKeep } from './plan-keep.ts';
import { renumbered } from './plan-parts.ts';
import { planRecord, recordNeeded } from './plan-record.ts';
import { planStop, type StopInput } from './plan-stop.ts';

/** A decision that was made, as opposed to one that is left to the operator or to a living agent. */
export type FinalDecision = Extract<ExitDecision, { action: 'record' | 'keep' | 'clean' }>;

export interface ExitPlan {
  /** What is carried out: a clean-up that cannot be proven safe has become a keep. */
  decision: FinalDecision;
  /** Null when the record says it already. */
  plan: Plan | null;
}

/**
 * The plan of an exit decision (docs/status-and-causes.md#exit-decision).
 * @throws JackinError what the plan of a keep or clean-up refuses, CLEANUP_NOT_PROVEN excepted
 */
export function planExit(input: StopInput & { classification: Ended; decision: FinalDecision }): ExitPlan {
  const { facts, classification, decision } = input;
  switch (decision.action) {
    case 'record': {
      const { status, cause, last_attach_outcome: lastAttachOutcome } = classification;
      const needed = recordNeeded(facts, classification);
      return { decision, plan: needed ? planRecord({ ...input, status, cause, lastAttachOutcome }) : null };
    }
    case 'keep':
      return { decision, plan: planKeep({ ...input, intent: decision.intent, status: decision.status }) };
    case 'clean':
      try {
        return { decision, plan: planClean({ ...input, purpose: 'exit', consent: 'none' }) };
      } catch (error) {
        if (!(error instanceof JackinError) || error.code !== 'CLEANUP_NOT_PROVEN') throw error;
        const status = keptStatus(facts.isolated);
        const intent = 'could_not_ask' as const;
        const keep: FinalDecision = { action: 'keep', intent, status, reason: error.message };
        return { decision: keep, plan: planKeep({ ...input, intent, status }) };
      }
  }
}

/**
 * All of `jackin stop` in one plan, for its dry run: what is ended first, then what the exit decision makes of that end.
 * The command itself looks again before it decides. Where a question would be asked the plan ends with the stop.
 * @throws JackinError what {@link planStop} and {@link planExit} refuse
 */
export function planStopAndExit(input: StopInput & { policy: ExitPolicy; canAsk: boolean }): Plan {
  const stop = planStop(input);
  const facts = stop.steps.length === 0 ? input.facts : afterOurStop(input);
  const classification = classifyExit(facts, input.now);
  const decision = decideExit({
    classification,
    policy: input.policy,
    canAsk: input.canAsk,
    isolated: facts.isolated,
    otherSessionsAlive: agentInContainer(facts) === 'ended' ? 'no' : 'unknown',
    choice: null,
  });
  if (decision.action === 'leave_running' || classification.outcome !== 'ended') return stop;
  if (decision.action === 'ask') return { ...stop, summary: `${stop.summary}, then ask how to end it` };
  const { plan } = planExit({ ...input, facts, classification, decision });
  if (plan === null) return stop;
  const { summary, steps } = plan;
  if (stop.steps.length === 0) return { ...plan, kind: 'stop' };
  return { ...stop, summary: `${stop.summary}. ${summary}`, steps: renumbered([...stop.steps, ...steps]) };
}

/** What will be seen when our stop was followed: nothing runs, and an agent that was alive ended by our request. */
function afterOurStop({ facts, now, nonce, graceMs }: StopInput): InstanceFacts {
  const { manifest, observation, state_files: files } = facts;
  const ended = agentInContainer(facts) === 'ended';
  return {
    ...facts,
    manifest: { ...manifest, stop_request: { nonce, at: now, grace_ms: graceMs } },
    observation: {
      ...observation,
      container: atRest(observation.container),
      sidecar: observation.sidecar === null ? null : atRest(observation.sidecar),
      leftover_pids: [],
    },
    capsule: { state: 'silent', reason: 'it was stopped' },
    state_files: ended ? files : { ...files, exit_record: byOurRequest(facts, now, nonce) },
  };
}

type ContainerFact = InstanceFacts['observation']['container'];

function atRest(container: ContainerFact): ContainerFact {
  if (container.state !== 'running') return container;
  const { name, engine_ref, image_id } = container;
  return {
    state: 'stopped',
    name,
    engine_ref,
    image_id,
    exit_code: null,
    oom_flag: null,
    error: null,
    startable: { ok: true },
  };
}

function byOurRequest(
  { instance_id, engine }: InstanceFacts,
  at: string,
  nonce: string,
): InstanceFacts['state_files']['exit_record'] {
  return {
    state: 'present',
    record: {
      version: 1,
      instance_id,
      boot_id: engine.state === 'reachable' ? (engine.boot_id ?? '') : '',
      at,
      ended_by: 'request',
      nonce,
      code: null,
      signal: null,
      oom: false,
      oom_note: false,
      agent: null,
      session_id: null,
    },
  };
}
