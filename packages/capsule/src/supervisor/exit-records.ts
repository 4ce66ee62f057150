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
  /** The last living session ended. */
  lastSessionEnded(end: RecordedEnd): void;
  /** The capsule is told to end. `anyAlive`: agents are still running and will be ended by this. */
  ending(end: {
    endedBy: 'request' | 'signal';
    nonce?: string;
    capsuleSignal?: string;
    anyAlive: boolean;
  }): void;
  /** A session is about to start: what ended before is over. The result puts the record back if it does not. */
  withdraw(): () => void;
}

export interface ExitRecordOptions {
  state: StateDir;
  instanceId: string;
  bootId: string;
  /** The record of an earlier run, if there is one. */
  existing: ExitRecord | null;
}

export function createExitRecords({ state, instanceId, bootId, existing }: ExitRecordOptions): ExitRecords {
  let current = existing;

  function write(end: Omit<ExitRecord, 'version' | 'instance_id' | 'boot_id' | 'at'>): void {
    current = { version: 1, instance_id: instanceId, boot_id: bootId, at: new Date().toISOString(), ...end };
    state.writeNow(EXIT_RECORD_FILE, current);
  }

  return {
    lastSessionEnded: ({ endedBy, code, signal, oom, oomNote, agent, sessionId }) =>
      write({ ended_by: endedBy, code, signal, oom, oom_note: oomNote, agent, session_id: sessionId }),
    ending({ endedBy, nonce, capsuleSignal, anyAlive }) {
      if (!anyAlive && current?.ended_by === 'agent') return;
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
    withdraw() {
      const before = current;
      current = null;
      state.remove(EXIT_RECORD_FILE);
      return () => {
        current = before;
        if (before !== null) state.writeNow(EXIT_RECORD_FILE, before);
      };
    },
  };
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
