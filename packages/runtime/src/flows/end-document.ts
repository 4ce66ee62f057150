import type { Manifest } from '@jackin/instance';
import { readRecord } from '../decide/end-facts.ts';
import type { ExitPolicy } from '../decide/exit-policy-table.ts';
import type { AgentEnd } from '../decide/judge-end.ts';
import type { InstanceFacts } from '../facts.ts';
import type { EndDocument } from '../jackin.ts';
import type { FlowResult } from './api.ts';

type Identity = Pick<Manifest, 'instance_id' | 'container_base'>;

/** An end document with the next commands that fit its outcome; what is not given is empty. */
export function endDocument(
  { instance_id, container_base }: Identity,
  outcome: EndDocument['outcome'],
  rest: Partial<Omit<EndDocument, 'instance_id' | 'container_base' | 'outcome'>>,
): EndDocument {
  const document = {
    instance_id,
    container_base,
    outcome,
    status: null,
    cause: null,
    evidence: [],
    kept_without_choice: false,
    removed: [],
    kept: [],
    isolated: [],
    policy: null,
    agent_exit: null,
    ...rest,
  };
  return { next_commands: nextCommands(document), ...document };
}

/** Exit code 4: state was kept although nobody chose it. */
export function endResult(document: EndDocument): Extract<FlowResult, { kind: 'end' }> {
  return { kind: 'end', document, exitCode: document.kept_without_choice ? 4 : 0 };
}

/** What stays after KEEP, a crash or an eject, in words. */
export function keptThings(facts: InstanceFacts): string[] {
  return [
    `data of ${facts.container_base}: home, conversation, settings`,
    ...facts.isolated.map((mount) => `${mount.kind} ${mount.mount_dst}: ${mount.verdict} (${mount.reason})`),
  ];
}

/** How the agent ended: as the capsule recorded it for all its sessions, else as an attached client saw it. */
export function agentExit(facts: InstanceFacts, seen: AgentEnd | null): EndDocument['agent_exit'] {
  const reading = readRecord(facts);
  const recorded = reading.state === 'ours' && reading.record.ended_by === 'agent' ? reading.record : null;
  const end = recorded ?? seen;
  return end === null ? null : { code: end.code, signal: end.signal };
}

/** A decision to keep that somebody made, as opposed to one nobody could be asked for. */
export function keptByChoice(manifest: Manifest): boolean {
  return manifest.keep !== undefined && manifest.keep.intent !== 'could_not_ask';
}

export function policyOf(policy: ExitPolicy): EndDocument['policy'] {
  return { value: policy.value, source: policy.source };
}

function nextCommands(document: Omit<EndDocument, 'next_commands'>): string[] {
  const { outcome, instance_id: id } = document;
  switch (outcome) {
    case 'running':
    case 'detached':
    case 'returned':
      return [`jackin hardline ${id}`, `jackin stop ${id}`];
    case 'kept':
    case 'ejected':
      return [`jackin resume ${id}`, `jackin purge ${id}${consentFor(document)}`];
    case 'aborted':
      return [`jackin resume ${id}`, `jackin stop ${id} --keep`, `jackin stop ${id} --clean`];
    case 'cleaned':
      return [];
  }
}

/**
 * Where nobody could be asked, nobody will be asked by the command either: it has to say all that is needed. What is
 * unknown is only ever removed in a terminal.
 */
function consentFor({ kept_without_choice, isolated }: Omit<EndDocument, 'next_commands'>): string {
  if (!kept_without_choice || isolated.some(({ verdict }) => verdict === 'unknown')) return '';
  return isolated.every(({ verdict }) => verdict === 'clean') ? ' --yes' : ' --force';
}
