/** A fact that may be unobservable. "Could not look" is never "not there" (docs/architecture.md). */
export type Tri = 'yes' | 'no' | 'unknown';

export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that never jumps; only differences mean anything. */
  monotonicMs(): number;
  /** Resolves after `ms`, rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What the logic tells a reporter. Logic never prints. */
export type JackinEvent =
  | { type: 'notice'; level: 'info' | 'warn'; code: string; message: string }
  | {
      type: 'stage';
      stage: string;
      state: 'started' | 'done' | 'failed';
      elapsed_ms?: number;
      detail?: string;
    }
  | {
      type: 'plan';
      plan_id: string;
      kind: string;
      container_base: string | null;
      state: 'started' | 'done' | 'failed';
      steps: number;
    }
  | {
      type: 'step';
      plan_id: string;
      step_id: string;
      op: string;
      state: 'started' | 'done' | 'skipped' | 'failed';
      detail?: string;
    }
  | {
      type: 'lock';
      path: string;
      state: 'waiting' | 'acquired' | 'released' | 'taken_over' | 'lost';
      purpose: string;
      owner?: LockOwner;
    }
  | { type: 'debug'; message: string; fields?: Record<string, unknown> };

export type EventSink = (event: JackinEvent) => void;

/** A process that can be told from a later one with the same pid. */
export interface ProcessIdentity {
  pid: number;
  /** Kernel start time: clock ticks since boot on Linux, the `lstart` text elsewhere. */
  start_time: string;
  boot_id: string;
}

export interface LockOwner extends ProcessIdentity {
  host: string;
  /** RFC 3339 */
  since: string;
  purpose: string;
  /** The Linux pid namespace: a pid of another one cannot be looked up here. */
  pid_namespace?: string | undefined;
}
