import { JackinError, type Tri } from '@jackin/core';
import { derivedNames, type IndexRow } from '@jackin/instance';
import type { InstanceFacts, IsolatedMountFact } from '../facts.ts';
import type { Plan, Precondition } from '../plan.ts';
import { agentInContainer } from './classify-exit.ts';
import { type CleanConsent, refuseWithoutConsent, requiredConsent } from './clean-consent.ts';
import { engineSteps } from './free-steps.ts';
import { fingerprintOf } from './mount-document.ts';
import { agentUnknown, obstacle } from './obstacle.ts';
import { refuseLivingAgent } from './plan-keep.ts';
import {
  instancePlan,
  NOT_RUNNING,
  notLivelier,
  numbered,
  type PlanInput,
  type StepDraft,
} from './plan-parts.ts';
import { type StopInput, stopSteps } from './plan-stop.ts';

export interface CleanInput extends StopInput {
  /** `exit`: decided by `decideExit`. `purge`: an instance the operator named. */
  purpose: 'exit' | 'purge';
  /** Purge only: how far the operator has consented. A dry run passes what `requiredConsent` asks for. */
  consent: CleanConsent;
}

/**
 * CLEAN: after it nothing of the instance exists. The order is an invariant (docs/status-and-causes.md#clean): status,
 * engine resources, isolated trees, data directory, socket directory, lock, index row. The first step holds the
 * whole look that justified it, so an instance that was stopped and runs by now is STATE_CHANGED.
 * @throws JackinError AGENT_ALIVE (exit only), AGENT_STATE_UNKNOWN, CLEANUP_NOT_PROVEN, CONFIRMATION_NEEDED, WORK_AT_RISK,
 *   WORK_UNKNOWN, or what {@link obstacle} finds in the way
 */
export function planClean(input: CleanInput): Plan {
  const { facts, purpose } = input;
  const hindrance = obstacle(facts, input.now, { unprovenAbsence: 'allow' });
  if (hindrance !== null) throw hindrance;
  if (agentInContainer(facts) === 'unknown') throw agentUnknown(facts);
  if (purpose === 'exit') {
    refuseLivingAgent(input);
    refuseDoubt(facts);
  } else {
    refuseWithoutConsent(facts, input.consent);
  }
  return instancePlan({
    plan_id: input.planId,
    kind: 'clean',
    summary: `Remove ${facts.container_base} and everything that belongs to it`,
    facts,
    steps: cleanSteps(input),
  });
}

export interface FinishCleanInput extends PlanInput, Pick<StopInput, 'nonce' | 'graceMs'> {
  row: IndexRow;
  /** Whether its data directory is there. */
  dataDir: Tri;
}

/**
 * Removes an instance of which only the row still tells: its clean-up was interrupted after the manifest was removed, or
 * somebody removed its data directory by hand. Then what runs of it is ended first.
 * @throws JackinError CLEANUP_NOT_PROVEN when no clean-up had begun and the directory is not provably gone
 */
export function planFinishClean(input: FinishCleanInput): Plan {
  const { row } = input;
  const begun = row.status === 'purged';
  if (!begun && input.dataDir !== 'no') {
    throw new JackinError({
      code: 'CLEANUP_NOT_PROVEN',
      message: `${row.container_base} has no manifest, and its row says "${row.status}", not that it was cleaned up`,
      hint: 'Run `jackin status` and look at its directory; nothing was removed.',
    });
  }
  const first: Precondition[] = [{ fact: 'status', in: [row.status] }];
  return {
    schema_version: 'v1',
    plan_id: input.planId,
    kind: 'clean',
    backend: rowBackend(row),
    instance_id: row.instance_id,
    container_base: row.container_base,
    summary: begun
      ? `Finish the interrupted clean-up of ${row.container_base}`
      : `Remove what is left of ${row.container_base}, whose directory is gone`,
    tier: null,
    returns: [],
    did_not_return: [],
    steps: numbered(
      (begun ? stateSteps(row.container_base) : withoutDirectory(input)).map((step, index) =>
        index === 0 ? { ...step, requires: [...first, ...(step.requires ?? [])] } : step,
      ),
    ),
  };
}

/** Rows from before they named it are those of containers. */
function rowBackend(row: IndexRow): Plan['backend'] {
  return row.backend ?? 'docker';
}

/** No data is removed: should the directory be back by then, it stays. */
function withoutDirectory({ row, nonce, graceMs }: FinishCleanInput): StepDraft[] {
  const base = row.container_base;
  return [
    { op: 'stop_container', nonce, grace_ms: graceMs, requires: [{ fact: 'name_free' }] },
    ...(rowBackend(row) === 'standalone' ? processSteps(base) : containerSteps(row)),
    ...stateSteps(base).filter(({ op }) => op !== 'remove_data_dir'),
  ];
}

function processSteps(base: string): StepDraft[] {
  return [
    { op: 'end_leftovers', removes: [`processes of ${base}`] },
    { op: 'remove_container', removes: [`capsule process of ${base}`], requires: [NOT_RUNNING] },
  ];
}

/** Nothing tells what there is, so all of it is tried; only what carries our labels is removed. */
function containerSteps({ container_base: base, instance_id: id }: IndexRow): StepDraft[] {
  const { container, sidecar, certsVolume, network } = derivedNames(base);
  return [
    { op: 'remove_container', removes: [`container ${container}`], requires: [NOT_RUNNING] },
    { op: 'remove_sidecar', removes: [`sidecar ${sidecar}`], requires: [NOT_RUNNING] },
    { op: 'remove_volume', removes: [`volume ${certsVolume}`], requires: [NOT_RUNNING] },
    { op: 'remove_network', removes: [`network ${network}`], requires: [NOT_RUNNING] },
    { op: 'remove_keep_tag', removes: [`image tag jk-keep:${id}`] },
  ];
}

function cleanSteps(input: CleanInput): StepDraft[] {
  const { facts, purpose } = input;
  const isolated = asAssessed(facts.isolated);
  const quiet = purpose === 'exit' ? [{ fact: 'no_agent_alive' as const }] : [];
  return [
    { op: 'record_status', status: 'purged', requires: [...notLivelier(facts), ...quiet, isolated] },
    ...stopSteps(input),
    ...engineSteps(facts, true),
    ...keepTagSteps(facts),
    ...treeSteps(facts.isolated, isolated),
    ...stateSteps(facts.container_base, [NOT_RUNNING]),
  ];
}

/** Assessed once more right before the first of them goes: whatever changed since stops the clean-up. */
function treeSteps(mounts: readonly IsolatedMountFact[], isolated: Precondition): StepDraft[] {
  if (mounts.length === 0) return [];
  return [
    {
      op: 'remove_isolated_trees',
      mounts: mounts.map(({ mount_dst, path, branch_commit = null }) => ({ mount_dst, path, branch_commit })),
      removes: mounts.map(treeWords),
      requires: [NOT_RUNNING, isolated],
    },
  ];
}

function treeWords({ kind, mount_dst, verdict, record, branch_commit: tip }: IsolatedMountFact): string {
  const branch = tip == null ? '' : `, branch ${record?.scratch_branch} at ${tip.slice(0, 12)}`;
  return `${kind} ${mount_dst} (${verdict})${branch}`;
}

/** The precondition that the trees are still what was seen. */
function asAssessed(mounts: readonly IsolatedMountFact[]): Extract<Precondition, { fact: 'isolated' }> {
  const seen = mounts.flatMap((mount) => {
    const print = fingerprintOf(mount);
    return print === null ? [] : [[mount.mount_dst, print] as const];
  });
  return {
    fact: 'isolated',
    verdicts: Object.fromEntries(mounts.map(({ mount_dst, verdict }) => [mount_dst, verdict])),
    ...(seen.length === 0 ? {} : { fingerprints: Object.fromEntries(seen) }),
  };
}

function keepTagSteps(facts: InstanceFacts): StepDraft[] {
  const tag = facts.observation.image?.by_keep_tag ?? { state: 'missing' };
  if (tag.state === 'missing') return [];
  const heir = facts.image_heir;
  const inherit: StepDraft[] =
    tag.state === 'present' && heir !== null
      ? [
          {
            op: 'pin_image',
            image_id: tag.image_id,
            instance_id: heir,
            creates: [`image tag jk-keep:${heir}, which needs the image`],
          },
        ]
      : [];
  return [...inherit, { op: 'remove_keep_tag', removes: [`image tag jk-keep:${facts.instance_id}`] }];
}

/** What is left of an instance on disk, in the order of every clean-up. */
export function stateSteps(base: string, requires: NonNullable<StepDraft['requires']> = []): StepDraft[] {
  return [
    { op: 'remove_data_dir', removes: [`data of ${base}: home, conversation, settings`], requires },
    { op: 'remove_socket_dir', removes: [`socket directory of ${base}`] },
    { op: 'remove_lock', removes: [`lock of ${base}`] },
    { op: 'remove_index_row', removes: [`index row of ${base}`] },
  ];
}

/** The exit flow removes only what was seen: anything that could not be looked at keeps the whole instance. */
function refuseDoubt(facts: InstanceFacts): void {
  const needed = requiredConsent(facts);
  // What is there now need not be what was agreed to when the clean-up began.
  const changed = facts.manifest.status === 'purged' && needed === 'force';
  if (needed !== 'named' && !changed) return;
  throw new JackinError({
    code: 'CLEANUP_NOT_PROVEN',
    message: changed
      ? `${facts.container_base} is kept: its clean-up was interrupted, and it holds work nobody agreed to lose`
      : `${facts.container_base} is kept: not everything that belongs to it could be looked at`,
    hint: `See \`jackin status ${facts.instance_id} --detail\`; \`jackin purge ${facts.instance_id}\` removes it all the same.`,
  });
}
