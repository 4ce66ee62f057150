import type { Duplex } from 'node:stream';
import type { HangupSignal } from './signals.ts';

export interface AttachRequest {
  /** Opens a connection to the capsule. */
  open(signal: AbortSignal): Promise<Duplex>;
  /** Null: the newest living session, else the newest one. */
  session_id: string | null;
  instance_id: string;
  capsule_key: string;
  /** The key that starts a command to jackin, e.g. `C-b`. */
  prefix: string;
}

export type AttachOutcome =
  | { kind: 'detached' }
  /** The terminal went away (`signal: null` when nothing but that was seen), or jackin was asked to end. */
  | { kind: 'hangup'; signal: HangupSignal | null }
  | { kind: 'ended'; code: number | null; signal: string | null; oom: boolean; hold: AttachHold }
  | { kind: 'lost'; reason: string };

/** Keeps the capsule waiting for a decision (it counts as an attached client) until released. May be released twice. */
export interface AttachHold {
  release(): Promise<void>;
}

export interface Attach {
  /**
   * Connects the terminal with one session until it is detached, ended or lost; the terminal is restored before
   * this resolves or rejects, and `stdin` is paused. May be called again afterwards.
   * @throws JackinError ATTACH_NEEDS_TERMINAL, PREFIX_INVALID, and what the capsule answers before the session
   * is on screen (CAPSULE_UNPROVEN, CAPSULE_SILENT, PROTOCOL_UNSUPPORTED, SESSION_NOT_FOUND …)
   */
  run(request: AttachRequest): Promise<AttachOutcome>;
}

/** How the attachment ends before anything is put in order; the first reason stands. */
export type Ending =
  | Exclude<AttachOutcome, { kind: 'ended' }>
  | Omit<Extract<AttachOutcome, { kind: 'ended' }>, 'hold'>;

export interface EndingSlot {
  readonly promise: Promise<Ending>;
  settle(ending: Ending): void;
}

export function createEndingSlot(): EndingSlot {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  return { promise, settle: resolve };
}
