import { readFileBounded } from '@jackin/core';
import {
  EXIT_RECORD_FILE,
  type ExitRecord,
  exitRecordSchema,
  STATE_FILE_MAX_BYTES,
} from '../protocol/index.ts';
import type { StateDir } from './state-dir.ts';

/** How a session ended, as far as the exit record tells it. */
export interface RecordedEnd {
  endedBy: 'agent' | 'request';
  code: number | null;
  signal: string | null;
  oom: boolean;
  oomNote: boolean;
  agent: string;
  sessionId: string;
}

/** Writes who ended the capsule's work (docs/architecture.md). A record of an agent that ended by itself stays. */
export interface ExitRecords {
  /** A session ended. With the last living one the end that counts for all of them is written. */
  sessionEnded(end: RecordedEnd, rest: { anyAlive: boolean }): void;
  /** The capsule is told to end. `alive`: the agents that are still running and will be ended by this. */
  ending(end: {
    endedBy: 'request' | 'signal';
    nonce?: string;
    capsuleSignal?: string;
    alive: readonly string[];
  }): void;
  /**
   * A session of `agent` is about to start: what ended before is over, for all when none is alive and for this agent
   * in any case. The result puts everything back if it does not start.
   */
  withdraw(agent: string, rest: { anyAlive: boolean }): () => void;
}

export interface ExitRecordOptions {
  state: StateDir;
  instanceId: string;
  bootId: string;
  /** The record of an earlier run, if there is one. */
  existing: ExitRecord | null;
  /** The instance's own agent; null: that of the first session. */
  primaryAgent: string | null;
}

/** A shell that was opened beside the agent: how it ends says nothing about the agent. */
const COMPANION = 'shell';
const INTERRUPTED_CODE = 130;

export function createExitRecords(options: ExitRecordOptions): ExitRecords {
  const { state, instanceId, bootId, existing } = options;
  let current = existing;
  let primary = options.primaryAgent;
  /** Of each agent, the worst end since it was last started. */
  let worstOf = new Map<string, RecordedEnd>();

  function write(end: Omit<ExitRecord, 'version' | 'instance_id' | 'boot_id' | 'at'>): void {
    current = { version: 1, instance_id: instanceId, boot_id: bootId, at: new Date().toISOString(), ...end };
    state.writeNow(EXIT_RECORD_FILE, current);
  }

  const isCompanion = (agent: string): boolean => agent === COMPANION && agent !== primary;

  /** The worst end of what was not only opened beside the agent. */
  function worst(): RecordedEnd | undefined {
    const ends = [...worstOf.values()].filter(({ agent }) => !isCompanion(agent));
    return ends.sort((a, b) => badness(b) - badness(a))[0];
  }

  function writeEnd({ endedBy, code, signal, oom, oomNote, agent, sessionId }: RecordedEnd): void {
    write({ ended_by: endedBy, code, signal, oom, oom_note: oomNote, agent, session_id: sessionId });
  }

  /** An agent that failed, else the instance's own agent, else what ended last. */
  function decisive(last: RecordedEnd): RecordedEnd {
    const own = worst();
    if (own !== undefined && badness(own) > 0) return own;
    return (primary === null ? undefined : worstOf.get(primary)) ?? last;
  }

  return {
    sessionEnded(end, { anyAlive }) {
      const before = worstOf.get(end.agent);
      if (before === undefined || badness(end) >= badness(before)) worstOf.set(end.agent, end);
      if (anyAlive) return;
      writeEnd(decisive(end));
    },
    ending({ endedBy, nonce, capsuleSignal, alive }) {
      if (alive.length === 0 && current?.ended_by === 'agent') return;
      // The agent failed before: ending what was open beside it does not make that a clean end.
      const own = alive.every(isCompanion) ? worst() : undefined;
      if (own !== undefined && badness(own) > 0) return writeEnd(own);
      write({
        ended_by: endedBy,
        ...(nonce === undefined ? {} : { nonce }),
        ...(capsuleSignal === undefined ? {} : { capsule_signal: capsuleSignal }),
        code: null,
        signal: null,
        oom: false,
        oom_note: false,
        agent: null,
        session_id: null,
      });
    },
    withdraw(agent, { anyAlive }) {
      const [before, endsBefore, primaryBefore] = [current, worstOf, primary];
      primary ??= agent;
      worstOf = new Map([...worstOf].filter(([of]) => anyAlive && of !== agent));
      current = null;
      state.remove(EXIT_RECORD_FILE);
      return () => {
        worstOf = endsBefore;
        primary = primaryBefore;
        current = before;
        if (before !== null) state.writeNow(EXIT_RECORD_FILE, before);
      };
    },
  };
}

/** 0: it ended well or was told to. An interrupt is no failure of most agents, so any other end is worse. */
function badness({ endedBy, code, oom }: RecordedEnd): 0 | 1 | 2 {
  if (endedBy === 'request' || (code === 0 && !oom)) return 0;
  return code === INTERRUPTED_CODE && !oom ? 1 : 2;
}

/** The record that lies in the state directory; anything but a valid one of this instance counts as none. */
export async function readExistingRecord(state: StateDir, instanceId: string): Promise<ExitRecord | null> {
  try {
    const bytes = await readFileBounded(`${state.path}/${EXIT_RECORD_FILE}`, {
      maxBytes: STATE_FILE_MAX_BYTES,
    });
    if (bytes === null) return null;
    const record = exitRecordSchema.parse(JSON.parse(bytes.toString('utf8')));
    return record.instance_id === instanceId ? record : null;
  } catch {
    return null;
  }
}
