import type { Status } from '@jackin/instance';
import { fingerprintOf } from '../decide/mount-document.ts';
import type { InstanceFacts } from '../facts.ts';
import type { Precondition } from '../plan.ts';

/** What a precondition is held against. */
export interface PreconditionFacts {
  facts: InstanceFacts | null;
  /** A manifest is on disk now (the facts may come from one that was just removed). */
  onDisk: boolean;
  /** The status of the index row, for an instance whose manifest is gone. */
  rowStatus: Status | null;
}

export type Verdict = { holds: true } | { holds: false; value: string };

/**
 * Is this fact true right now? Uncertain values never satisfy anything (docs/architecture.md, "could not look" is
 * never "not there"). `value` is what was found instead, for the error.
 */
export function evaluatePrecondition(precondition: Precondition, now: PreconditionFacts): Verdict {
  switch (precondition.fact) {
    case 'status':
      return among(statusNow(now), precondition.in);
    case 'container':
      return among(now.facts?.observation.container.state ?? 'unknown', precondition.in);
    case 'no_agent_alive':
      return noAgentAlive(now.facts);
    case 'isolated':
      return sameTrees(precondition, now.facts);
    case 'name_free':
      return nameFree(now);
  }
}

/** Without manifest and row nothing is left of the instance, which is what `purged` means. */
function statusNow(now: PreconditionFacts): Status {
  if (now.onDisk && now.facts) return now.facts.manifest.status;
  return now.rowStatus ?? 'purged';
}

function noAgentAlive(facts: InstanceFacts | null): Verdict {
  const container = facts?.observation.container;
  if (!facts || !container) return { holds: false, value: 'unknown' };
  if (container.state === 'stopped' || container.state === 'missing') return { holds: true };
  if (container.state !== 'running') return { holds: false, value: `container ${container.state}` };
  if (facts.capsule.state !== 'answers') return { holds: false, value: `capsule ${facts.capsule.state}` };
  const alive = facts.capsule.sessions.filter((session) => session.alive);
  if (alive.length === 0) return { holds: true };
  return { holds: false, value: `alive: ${alive.map((session) => session.session_id).join(', ')}` };
}

/** What was agreed to is what was shown, not a tree of the same verdict. */
function sameTrees(
  { verdicts, fingerprints = {} }: Extract<Precondition, { fact: 'isolated' }>,
  facts: InstanceFacts | null,
): Verdict {
  const found = new Map((facts?.isolated ?? []).map((mount) => [mount.mount_dst, mount]));
  const destinations = new Set([...Object.keys(verdicts), ...found.keys()]);
  for (const destination of destinations) {
    const now = found.get(destination);
    if (verdicts[destination] !== now?.verdict) {
      return { holds: false, value: `${destination} is ${now?.verdict ?? 'not recorded'}` };
    }
    const seen = fingerprints[destination];
    if (seen !== undefined && (now === undefined || seen !== fingerprintOf(now))) {
      return { holds: false, value: `${destination} changed: ${now?.reason ?? 'not recorded'}` };
    }
  }
  return { holds: true };
}

/** Free: nothing on disk and nothing at the backend, or it is all ours (the facts' own instance id). */
function nameFree(now: PreconditionFacts): Verdict {
  const container = now.facts?.observation.container.state ?? 'unknown';
  if (container === 'foreign' || container === 'unreachable' || container === 'unknown') {
    return { holds: false, value: `container ${container}` };
  }
  if (now.onDisk) return { holds: true };
  const dataDir = now.facts?.data_dir ?? 'unknown';
  return dataDir === 'no' ? { holds: true } : { holds: false, value: `data directory: ${dataDir}` };
}

function among(value: string, allowed: readonly string[]): Verdict {
  return allowed.includes(value) ? { holds: true } : { holds: false, value };
}
