import type { JackinError } from '@jackin/core';
import { backendOf, type Recipe } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { DidNotReturn, Plan, Precondition, SessionRequest } from '../plan.ts';
import { classifyExit } from './classify-exit.ts';
import { checkSteps } from './plan-launch.ts';
import { asSeen, instancePlan, type PlanInput, recordEnd, type StepDraft } from './plan-parts.ts';
import { whatIsLost, whatReturns } from './restore-loss.ts';
import { type RestoreTier, restoreTier } from './restore-tier.ts';
import { type RestoreTrees, restoreTrees } from './restore-trees.ts';

export interface RestoreInput extends PlanInput {
  facts: InstanceFacts;
  /** The agent session to start when none is alive. */
  session: SessionRequest;
  /** The engine's words when a start of the container was tried and failed just now. */
  startFailure?: string | null;
  /** Paths changed in the old container's writable layer; null or absent when not known. */
  changedPaths?: readonly string[] | null;
  /** Where a repository is now that was moved. */
  source?: string | null;
}

export type RestorePlan =
  /** `notes`: what the operator must hear about the trees. */
  | { outcome: 'plan'; plan: Plan; notes: string[] }
  /** `plan` may run only after the operator accepted `reason` and the loss it names (`--accept-loss`). */
  | { outcome: 'needs_consent'; reason: string; plan: Plan; notes: string[] }
  | { outcome: 'blocked'; error: JackinError };

/**
 * How an instance comes back (docs/status-and-causes.md#ladder): the highest possible tier, what returns and what does
 * not. The recorded cause stays until the session runs again. Nothing is ever removed.
 */
export function planRestore(input: RestoreInput): RestorePlan {
  const tier = restoreTier(input.facts, input.now, input.startFailure ?? null);
  if (tier.outcome === 'blocked') return tier;
  // What runs works in its trees whatever became of their repositories.
  const trees = tier.tier === 0 ? NO_TREES : restoreTrees(input.facts, input.source ?? null);
  if (trees.outcome === 'blocked') return trees;
  const lost = whatIsLost(input.facts, tier, input.changedPaths ?? null);
  const plan = instancePlan({
    plan_id: input.planId,
    kind: 'restore',
    summary: summary(input.facts, tier, lost),
    facts: input.facts,
    tier: tier.tier,
    returns: whatReturns(input.facts, tier, lost),
    did_not_return: lost,
    steps: steps(input, tier, trees.steps),
  });
  const reasons = [
    tier.tier === 2 ? tier.needsConsent : null,
    trees.outcome === 'needs_consent' ? trees.reason : null,
  ].filter((reason) => reason !== null);
  if (reasons.length === 0) return { outcome: 'plan', plan, notes: trees.notes };
  return { outcome: 'needs_consent', reason: reasons.join('; '), plan, notes: trees.notes };
}

type Chosen = Exclude<RestoreTier, { outcome: 'blocked' }>;

const NO_TREES: Extract<RestoreTrees, { outcome: 'ok' }> = { outcome: 'ok', steps: [], notes: [] };

function steps(input: RestoreInput, tier: Chosen, trees: readonly StepDraft[]): StepDraft[] {
  const { facts, session } = input;
  const { recipe } = facts.manifest;
  if (tier.tier === 0 && tier.agent === 'alive') return [...runningAgain(facts), { op: 'reconnect' }];
  if (recipe === undefined) throw new Error('a tier that starts something was chosen without a recipe');
  const begin: StepDraft = { ...beginning(input), requires: asSeen(facts) };
  const sessionStep: StepDraft = {
    op: 'start_session',
    session,
    recipe,
    creates: [`agent session ${session.name} (${session.agent})`],
  };
  if (tier.tier === 0) return [begin, sessionStep, running()];
  // Should a container have to be made all the same, then from the image this instance has.
  const imageId = tier.tier === 2 ? tier.imageId : (facts.manifest.image_id ?? recipe.image_id);
  const from: Recipe = imageId == null ? recipe : { ...recipe, image_id: imageId };
  return [
    begin,
    ...(facts.observation.leftover_pids.length > 0 ? [{ op: 'end_leftovers' } as const] : []),
    ...(tier.tier === 2 && tier.renamesOld ? [rename(input)] : []),
    ...trees,
    { op: 'prepare_socket_dir' },
    { op: 'write_agent_config', session },
    { op: 'create_resources', recipe: from, requires: containerStillThere(input, tier) },
    { op: 'start_container', recipe: from },
    ...checkSteps(recipe),
    sessionStep,
    running(),
  ];
}

/** What was removed meanwhile is not replaced by an empty one under the name of a tier that loses nothing. */
function containerStillThere({ facts }: RestoreInput, { tier }: Chosen): Precondition[] {
  const needsIt = tier === 1 && backendOf(facts.manifest) === 'docker';
  return needsIt ? [{ fact: 'container', in: ['stopped'] }] : [];
}

/** `active` first, so that a kill half way shows a start that was not finished; the reason it ended is kept. */
function beginning({ facts, now }: RestoreInput): Extract<StepDraft, { op: 'record_status' }> {
  const seen = classifyExit(facts, now);
  const cause = seen.outcome === 'ended' ? seen.cause : null;
  return { ...recordEnd({ status: 'active', cause }), stop_request: null };
}

/** Only a session that runs again has no cause of an end and no decision to keep. */
function running(): StepDraft {
  return { op: 'record_status', status: 'running', exit_cause: null, keep: null, last_attach_outcome: null };
}

function runningAgain({ manifest }: InstanceFacts): StepDraft[] {
  const settled =
    manifest.status === 'running' && manifest.exit_cause === undefined && manifest.keep === undefined;
  return settled ? [] : [running()];
}

function rename({ facts, now }: RestoreInput): StepDraft {
  const moment = now.replace(/[^0-9]/g, '').slice(0, 14);
  const to = `${facts.container_base}-before-${moment}`;
  return { op: 'rename_container', to, creates: [`the old container under the name ${to}`] };
}

function summary(facts: InstanceFacts, tier: Chosen, lost: readonly DidNotReturn[]): string {
  const { container_base: base } = facts;
  const without = lost.length === 0 ? '' : `; does not return: ${lost.join(', ')}`;
  if (tier.tier === 0) {
    const how = tier.agent === 'alive' ? 'reconnect to the running session' : 'start the agent again in it';
    return `Tier 0: ${base} runs, ${how}${without}`;
  }
  if (tier.tier === 2) return `Tier 2: make the container of ${base} again from its image${without}`;
  const what = backendOf(facts.manifest) === 'standalone' ? 'capsule' : 'container';
  return `Tier 1: start the ${what} of ${base} again${without}`;
}
