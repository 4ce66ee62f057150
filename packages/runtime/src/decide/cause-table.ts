import type { CauseKind, Status } from '@jackin/instance';
import type { EndFacts } from './end-facts.ts';

/** One line of the cause table. The page docs/status-and-causes.md maps each `id` to its tests. */
export interface CauseRow {
  id: string;
  /** The facts in words, as the page prints them. */
  facts: string;
  /** null: the recorded status stays. */
  status: Status | null;
  /** null: the recorded cause stays. */
  cause: CauseKind | null;
  /** The end was clean, so the exit flow applies. */
  exit_flow: boolean;
  /** Its real event needs a container engine. */
  needs_engine: boolean;
  matches(end: EndFacts): boolean;
}

/**
 * Why a session ended, best evidence first; the first line that fits decides
 * (docs/status-and-causes.md#cause-table). An exit code alone never makes an end clean.
 */
export const CAUSE_TABLE: readonly CauseRow[] = [
  {
    id: 'engine_unreachable',
    facts: 'the engine the instance lives on does not answer',
    status: null,
    cause: null,
    exit_flow: false,
    needs_engine: true,
    matches: (end) => end.reach === 'engine_unreachable',
  },
  {
    id: 'other_engine',
    facts: 'the engine that answers is not the one the instance lives on',
    status: null,
    cause: null,
    exit_flow: false,
    needs_engine: true,
    matches: (end) => end.reach === 'other_engine',
  },
  {
    id: 'setup_failed',
    facts: 'our setup or a setup hook failed before a usable session',
    status: 'failed_setup',
    cause: 'setup_failed',
    exit_flow: false,
    needs_engine: false,
    matches: (end) => end.setup_failed,
  },
  {
    id: 'container_gone',
    facts: 'the container is gone; the state on disk is there',
    status: 'restore_available',
    cause: null,
    exit_flow: false,
    needs_engine: true,
    matches: (end) => end.container === 'gone',
  },
  {
    id: 'agent_clean',
    facts: 'ended by the agent with a code its registry entry calls clean',
    status: 'clean_exited',
    cause: 'clean',
    exit_flow: true,
    needs_engine: false,
    matches: (end) => end.record === 'agent_clean',
  },
  {
    id: 'agent_crash',
    facts: 'ended by the agent with another code or by a signal',
    status: 'crashed',
    cause: 'agent_crash',
    exit_flow: false,
    needs_engine: false,
    matches: (end) => end.record === 'agent_other',
  },
  {
    id: 'jackin_stop',
    facts: 'ended by our own request (the record repeats our nonce, or our stop had to use force)',
    status: 'clean_exited',
    cause: 'jackin_stop',
    exit_flow: true,
    needs_engine: false,
    matches: (end) =>
      end.record === 'request' || (end.request_pending && unrecorded(end) && end.run === 'same'),
  },
  {
    id: 'oom',
    facts: 'the agent or the container was killed for memory and ended by it',
    status: 'crashed',
    cause: 'oom',
    exit_flow: false,
    needs_engine: false,
    matches: (end) =>
      end.record === 'agent_oom' ||
      (end.record === 'none' && end.oom_flag && (end.exit_code === 137 || end.exit_code === null)),
  },
  {
    id: 'host_restart',
    facts: 'not ended by agent or request; the boot changed since the start',
    status: 'host_lost',
    cause: 'host_restart',
    exit_flow: false,
    needs_engine: false,
    matches: (end) => unrecorded(end) && end.run === 'host_changed',
  },
  {
    id: 'engine_restart',
    facts: 'not ended by agent or request; the engine run changed since the start',
    status: 'host_lost',
    cause: 'engine_restart',
    exit_flow: false,
    needs_engine: true,
    matches: (end) => unrecorded(end) && end.run === 'engine_changed',
  },
  {
    id: 'stopped_by_other',
    facts: 'same engine run; the capsule was ended by a signal, or there is no record and code 143',
    status: 'stopped',
    cause: 'stopped_by_other',
    exit_flow: false,
    needs_engine: false,
    matches: (end) =>
      end.run === 'same' && (end.record === 'signal' || (end.record === 'none' && end.exit_code === 143)),
  },
  {
    id: 'killed',
    facts: 'same engine run; no record and code 137',
    status: 'stopped',
    cause: 'killed',
    exit_flow: false,
    needs_engine: true,
    matches: (end) => end.run === 'same' && end.record === 'none' && end.exit_code === 137,
  },
  {
    id: 'capsule_crash',
    facts: 'same engine run (standalone: same boot); no record and another or no observable code',
    status: 'crashed',
    cause: 'capsule_crash',
    exit_flow: false,
    needs_engine: false,
    matches: (end) => end.run === 'same' && end.record === 'none',
  },
  {
    id: 'unknown',
    facts: 'the engine run cannot be told, or the exit record cannot be read',
    status: 'stopped',
    cause: 'unknown',
    exit_flow: false,
    needs_engine: true,
    matches: () => true,
  },
];

function unrecorded(end: EndFacts): boolean {
  return end.record === 'none' || end.record === 'signal';
}
