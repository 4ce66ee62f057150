import type { CapsuleMessage, SessionInfo, SessionPlan } from '../protocol/index.ts';

export type Welcome = Extract<CapsuleMessage, { type: 'welcome' }>;

/** A connection to a capsule that has proven to be the right one. */
export interface CapsuleConnection {
  readonly welcome: Welcome;
  /** @throws JackinError what the capsule answers, `CAPSULE_SILENT`, `CAPSULE_GONE`; so do all requests */
  startSession(plan: SessionPlan): Promise<SessionInfo>;
  /**
   * `sessionId: null`: the newest living session, else the newest. Before the first session the answer is neither
   * alive nor ended: the capsule shows a sentence and attaches this connection to the session that starts next.
   */
  attach(options: { sessionId: string | null; cols: number; rows: number }): Promise<SessionInfo>;
  resize(cols: number, rows: number): void;
  list(): Promise<SessionInfo[]>;
  /** Resolves when nothing of the session is left running. */
  endSession(sessionId: string, graceMs: number): Promise<SessionInfo>;
  /** Ends everything; resolves when the capsule closed the connection. */
  stop(options: { nonce: string; graceMs: number }): Promise<void>;
  snapshot(sessionId: string | null, lines: number): Promise<{ lines: string[]; title: string }>;
  ping(): Promise<void>;
  /** Types into the attached session. False when the capsule does not keep up. */
  write(bytes: Uint8Array): boolean;
  /**
   * Terminal bytes of the attached session, repaint included. While a returned promise is pending nothing more is
   * read, so that the capsule sees a client that does not keep up. Returns what takes the listener away.
   */
  onTerminal(listener: (bytes: Uint8Array) => void | Promise<void>): () => void;
  /** All messages but replies to requests. Returns what takes the listener away. */
  onMessage(listener: (message: CapsuleMessage) => void): () => void;
  /** Never rejects. `code` names what the capsule did wrong, and is null for an ordinary end. */
  readonly closed: Promise<{ reason: string; code: string | null }>;
  close(): void;
}

export interface ConnectOptions {
  open(signal: AbortSignal): Promise<import('node:stream').Duplex>;
  instanceId: string;
  capsuleKey: string;
  clientName: string;
  signal: AbortSignal;
  /** Time for the handshake, and for a request beyond the grace it asks for. Default 10 s. */
  timeoutMs?: number;
}
