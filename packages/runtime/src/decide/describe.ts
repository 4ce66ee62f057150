import { backendOf, type CauseKind, type ExitCause, type Status } from '@jackin/instance';
import type { InstanceFacts } from '../facts.ts';
import type { InstanceDocument } from '../jackin.ts';
import { type Classification, classifyExit } from './classify-exit.ts';
import { evidenceOf } from './evidence.ts';
import { FINAL_STATUSES } from './instance-kind.ts';
import { mountDocument } from './mount-document.ts';

/** What `status` says about one instance; the agent's registry entry adds how the conversation returns. */
export type InstanceDescription = Omit<InstanceDocument, 'conversation' | 'last_screen' | 'sizes'>;

/**
 * The honest state of one instance, whether or not its record was brought to the truth already
 * (docs/status-and-causes.md#statuses).
 * @param now RFC 3339
 */
export function describeInstance(facts: InstanceFacts, now: string): InstanceDescription {
  const { manifest } = facts;
  const seen = classifyExit(facts, now);
  const cause = shownCause(facts, seen);
  return {
    instance_id: facts.instance_id,
    container_base: facts.container_base,
    workspace: manifest.workspace_label,
    workdir: manifest.workdir,
    role: manifest.role_key,
    agent: manifest.agent_runtime,
    status: shownStatus(facts, seen),
    cause: cause?.kind ?? null,
    evidence: shownEvidence(facts, seen, cause),
    container: shownContainer(facts, seen),
    since: cause?.at ?? manifest.updated_at,
    exit_pending: seen.outcome === 'ended' && seen.exit_flow,
    agent_alive: agentAlive(facts, seen),
    backend: backendOf(manifest),
    keep: manifest.keep === undefined ? null : { intent: manifest.keep.intent, at: manifest.keep.at },
    isolated: facts.isolated.map(mountDocument),
  };
}

/** A cause in words, for lists. */
export function causeInWords(kind: CauseKind, exitCode: number | null | undefined): string {
  const code = exitCode == null ? '' : ` (code ${exitCode})`;
  const words: Record<CauseKind, string> = {
    clean: 'ended cleanly',
    agent_crash: `agent crashed${code}`,
    jackin_stop: 'stopped by jackin',
    oom: 'ran out of memory',
    engine_restart: 'interrupted by engine loss',
    host_restart: 'interrupted by host loss',
    stopped_by_other: 'stopped by someone else',
    killed: 'killed by someone else',
    capsule_crash: `supervisor crashed${code}`,
    setup_failed: 'setup failed',
    unknown: 'ended, cause unknown',
  };
  return words[kind];
}

function shownStatus({ manifest }: InstanceFacts, seen: Classification): Status {
  if (seen.outcome === 'ended') return seen.status;
  if (seen.outcome !== 'alive' || FINAL_STATUSES.has(manifest.status)) return manifest.status;
  return manifest.status === 'failed_setup' && seen.agent !== 'alive' ? 'failed_setup' : 'running';
}

function shownCause(facts: InstanceFacts, seen: Classification): ExitCause | null {
  if (seen.outcome === 'ended') return seen.cause;
  if (shownStatus(facts, seen) === 'running') return null;
  return facts.manifest.exit_cause ?? null;
}

/** Where nothing can be observed the reason comes first; what was recorded earlier stays visible behind it. */
function shownEvidence(facts: InstanceFacts, seen: Classification, cause: ExitCause | null): string[] {
  const recorded = cause?.evidence ?? [];
  switch (seen.outcome) {
    case 'unobservable':
      return [`${seen.shown_as}: ${seen.reason}`, ...recorded];
    case 'launching':
      return [
        `in use by process ${seen.owner.pid} on ${seen.owner.host}: ${seen.owner.purpose}`,
        ...recorded,
      ];
    default:
      return recorded.length > 0 ? [...recorded] : evidenceOf(facts);
  }
}

function shownContainer(facts: InstanceFacts, seen: Classification): string {
  const { state } = facts.observation.container;
  // A held lock on anything but a beginning is just another command at work.
  if (seen.outcome === 'launching') return facts.manifest.status === 'active' ? 'launching' : state;
  if (state === 'foreign') return 'foreign';
  if (seen.outcome !== 'unobservable') return state;
  return seen.shown_as;
}

function agentAlive(facts: InstanceFacts, seen: Classification): 'yes' | 'no' | 'unknown' {
  if (seen.outcome === 'alive') {
    return seen.agent === 'alive' ? 'yes' : seen.agent === 'ended' ? 'no' : 'unknown';
  }
  return seen.outcome === 'ended' && facts.observation.leftover_pids.length === 0 ? 'no' : 'unknown';
}
