import { JackinError } from '@jackin/core';
import type { DecisionNeeded } from '../jackin.ts';
import type { CandidateRow } from '../prompts.ts';

export interface LaunchChoiceInput {
  /** From `candidatesFor`, newest first. */
  candidates: readonly CandidateRow[];
  /** `new`: never ask. `newest`: resume the newest. An id of a candidate: resume that one. null: no flag. */
  request: 'new' | 'newest' | { instance: string } | null;
  /** Somebody can be asked. */
  canAsk: boolean;
  /** The command as typed, e.g. `jackin load shell /srv/app`, to which the flags of a hint are added. */
  invocation: string;
  /** The same for a new session, with what only a new one takes; default: `invocation` with `--new`. */
  startNew?: string;
}

export type LaunchChoice =
  | { action: 'new' }
  | { action: 'resume'; instance_id: string }
  /** Ask: start new is the first answer. */
  | { action: 'choose'; candidates: CandidateRow[] };

/**
 * Resume or start new (docs/status-and-causes.md#launch). A launch never resumes by itself and never starts next to a
 * candidate unasked.
 * @throws JackinError DECISION_NEEDED (exit code 3, candidates and commands in its details), NO_CANDIDATE
 */
export function decideLaunch(input: LaunchChoiceInput): LaunchChoice {
  const { candidates, request, canAsk, invocation, startNew = `${invocation} --new` } = input;
  if (request === 'new') return { action: 'new' };
  if (request !== null && request !== 'newest') {
    const named = candidates.find((row) => row.instance_id === request.instance);
    if (named !== undefined) return { action: 'resume', instance_id: named.instance_id };
    throw noCandidate(`${request.instance} is not a session of this workspace, role and agent`, startNew);
  }
  const [newest] = candidates;
  if (newest === undefined) {
    if (request === null) return { action: 'new' };
    throw noCandidate('There is no session to resume for this workspace, role and agent', startNew);
  }
  if (request === 'newest') return { action: 'resume', instance_id: newest.instance_id };
  if (canAsk) return { action: 'choose', candidates: [...candidates] };
  throw decisionNeeded(candidates, invocation, startNew);
}

function decisionNeeded(
  candidates: readonly CandidateRow[],
  invocation: string,
  startNew: string,
): JackinError {
  const commands = [
    ...candidates.map(({ instance_id }) => `${invocation} --instance ${instance_id}`),
    startNew,
  ];
  const details: DecisionNeeded = { candidates: [...candidates], commands };
  const list = candidates.map((row) => `${row.container_base} (${row.age}, ${row.what}, ${row.readiness})`);
  return new JackinError({
    code: 'DECISION_NEEDED',
    message: `A session can be resumed and nobody can be asked: ${list.join('; ')}`,
    hint: `Run one of: ${commands.join(' · ')}`,
    details: { ...details },
    exitCode: 3,
  });
}

function noCandidate(message: string, startNew: string): JackinError {
  return new JackinError({
    code: 'NO_CANDIDATE',
    message,
    hint: `Start one with \`${startNew}\`, or see \`jackin status\`.`,
  });
}
