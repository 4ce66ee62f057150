import type { CapsuleMessage } from '../protocol/index.ts';
import type { ExitRecords } from './exit-records.ts';
import { type Log, reasonOf } from './log.ts';
import type { Sessions } from './sessions.ts';

export interface StopOptions {
  endedBy: 'request' | 'signal';
  nonce?: string;
  capsuleSignal?: string;
  graceMs: number;
}

/** When the capsule goes, and in which order (README, "Ends"). */
export interface Lifecycle {
  /** No session can be started any more. */
  readonly stopping: boolean;
  /** Something changed that may let the capsule leave, or keep it. */
  review(): void;
  /** Exit record, then clients are told, then children. A second call joins the first; a second signal hurries it. */
  stop(options: StopOptions): Promise<void>;
}

export interface LifecycleOptions {
  sessions: Sessions;
  records: ExitRecords;
  attachedClients(): number;
  broadcast(message: CapsuleMessage): void;
  /** Called once, when the last agent ended, nobody was attached for a while and nothing is left running. */
  onLeave(): void;
  log: Log;
}

/** Time for the host to attach or to start the next session after the last one ended. */
export const LEAVE_AFTER_MS = 2000;

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { sessions, records, broadcast, log } = options;
  const hurry = new AbortController();
  let leaving: NodeJS.Timeout | undefined;
  let stopping: Promise<void> | null = null;
  let signalled = false;

  function review(): void {
    const idle =
      stopping === null && sessions.all.length > 0 && !sessions.anyAlive && options.attachedClients() === 0;
    if (!idle) {
      clearTimeout(leaving);
      leaving = undefined;
    } else {
      leaving ??= setTimeout(() => void leave(), LEAVE_AFTER_MS);
    }
  }

  async function leave(): Promise<void> {
    stopping = end('agent', 0);
    try {
      await stopping;
    } finally {
      options.onLeave();
    }
  }

  async function end(endedBy: 'agent' | 'request' | 'signal', graceMs: number): Promise<void> {
    broadcast({ type: 'stopping', ended_by: endedBy });
    await Promise.all(
      sessions.all.map(async (session) => {
        try {
          await session.stop(graceMs, hurry.signal);
        } catch (error) {
          // What is left of one session must not keep the others, or the capsule, for ever.
          log(`session ${session.id} was not ended in good order: ${reasonOf(error)}`);
        }
      }),
    );
  }

  return {
    get stopping() {
      return stopping !== null;
    },
    review,
    stop({ graceMs, ...record }) {
      if (signalled && record.endedBy === 'signal') hurry.abort();
      signalled ||= record.endedBy === 'signal';
      if (stopping !== null) return stopping;
      clearTimeout(leaving);
      records.ending({ ...record, alive: sessions.all.filter((one) => one.alive).map((one) => one.agent) });
      stopping = end(record.endedBy, graceMs);
      return stopping;
    },
  };
}
