import { JackinError } from '@jackin/core';
import {
  type CapsuleMessage,
  HEARTBEAT_FILE,
  type Heartbeat,
  type SessionInfo,
  type SessionPlan,
} from '../protocol/index.ts';
import { repaintOfText } from '../terminal/repaint.ts';
import type { Connection, ConnectionHandlers, Request } from './connection.ts';
import { createExitRecords, type ExitRecordOptions } from './exit-records.ts';
import { createInputHold } from './input-hold.ts';
import { createLifecycle, type StopOptions } from './lifecycle.ts';
import type { Log } from './log.ts';
import { createScreenWriter } from './screen-writer.ts';
import type { Session, SessionEnd } from './session.ts';
import { createSessions, WAITING_ID } from './sessions.ts';
import { snapshotOf } from './snapshot.ts';
import type { Size, Viewer } from './viewers.ts';

/** The supervisor: sessions on one side, clients on the other, and the state directory for when it is gone. */
export interface Capsule extends ConnectionHandlers {
  readonly connections: ReadonlySet<Connection>;
  connected(connection: Connection): void;
  /** Writes the heartbeat: every few seconds and at every session change. */
  beat(): void;
  stop(options: StopOptions): Promise<void>;
}

export interface CapsuleOptions extends ExitRecordOptions {
  log: Log;
  /** Everything is in order for the process to end. */
  onFinished(): void;
}

interface Attachment {
  viewer: Viewer;
  /** Null before the first session. */
  session: Session | null;
}

export function createCapsule({ log, onFinished, ...recordOptions }: CapsuleOptions): Capsule {
  const { state, instanceId, bootId } = recordOptions;
  const startedAt = new Date().toISOString();
  const connections = new Set<Connection>();
  const attachments = new Map<Connection, Attachment>();
  const records = createExitRecords(recordOptions);
  const screens = createScreenWriter(state);
  const sessions = createSessions(instanceId, (session, pids) => {
    log(`processes of session ${session} could not be ended: ${pids.join(', ')}`);
  });
  const input = createInputHold();
  const lifecycle = createLifecycle({
    sessions,
    records,
    attachedClients: () => attachments.size,
    broadcast,
    onLeave: onFinished,
    log,
  });

  function broadcast(message: CapsuleMessage): void {
    for (const connection of connections) if (connection.welcomed) connection.sendMessage(message);
  }

  function beat(): void {
    const heartbeat: Heartbeat = {
      version: 1,
      instance_id: instanceId,
      boot_id: bootId,
      at: new Date().toISOString(),
      pid: process.pid,
      sessions: sessions.all.map((session) => {
        const { session_id, agent, alive, pid } = session.info();
        return { session_id, agent, alive, pid };
      }),
    };
    state.write(HEARTBEAT_FILE, heartbeat);
  }

  function start(plan: SessionPlan): SessionInfo {
    if (lifecycle.stopping) throw new JackinError({ code: 'STOPPING', message: 'This capsule is ending.' });
    const restore = records.withdraw(plan.agent, { anyAlive: sessions.anyAlive });
    let session: Session;
    try {
      session = sessions.start(plan, {
        onExit: (end) => onExit(session, end),
        onEnded: () => onEnded(session),
        onOutput: () => screens.changed(session),
        onWritable: () => input.release(session),
      });
    } catch (error) {
      restore();
      throw error;
    }
    beat();
    broadcast({ type: 'session_started', session: session.info() });
    for (const attachment of attachments.values()) {
      if (attachment.session !== null) continue;
      attachment.session = session;
      session.attach(attachment.viewer);
    }
    return session.info();
  }

  function onExit(session: Session, { code, signal, oom, oomNote, requested }: SessionEnd): void {
    if (!lifecycle.stopping) {
      const endedBy = requested ? 'request' : 'agent';
      const { id: sessionId, agent } = session;
      const end = { endedBy, code, signal, oom, oomNote, agent, sessionId } as const;
      records.sessionEnded(end, { anyAlive: sessions.anyAlive });
    }
    input.release(session);
    beat();
    lifecycle.review();
  }

  function onEnded(session: Session): void {
    screens.last(session);
    broadcast({ type: 'session_ended', session: session.info() });
  }

  function attach(connection: Connection, request: Extract<Request, { type: 'attach' }>): void {
    const session = sessions.find(request.session_id);
    detach(connection);
    const viewer: Viewer = { link: connection, cols: request.cols, rows: request.rows };
    attachments.set(connection, { viewer, session: session ?? null });
    lifecycle.review();
    // The answer first, so that the client knows what the bytes behind it are.
    const reply = (data: SessionInfo): void =>
      connection.sendMessage({ type: 'reply', request_id: request.request_id, data });
    if (session !== undefined) {
      session.attach(viewer, () => reply(session.info()));
    } else {
      reply(waitingInfo(viewer));
      showWaiting(viewer);
    }
  }

  function showWaiting({ link, cols, rows }: Viewer): void {
    const bytes = repaintOfText([
      'Waiting for jackin: no session has been started in this instance yet.',
      `Run \`jackin resume ${instanceId}\` on the host to continue.`,
    ]);
    link.sendMessage({ type: 'repaint', session_id: WAITING_ID, cols, rows, bytes: bytes.length });
    link.sendTerminal(bytes);
  }

  function waitingInfo({ cols, rows }: Viewer): SessionInfo {
    return {
      session_id: WAITING_ID,
      name: 'waiting for jackin',
      agent: WAITING_ID,
      alive: false,
      pid: null,
      started_at: startedAt,
      ended: null,
      cols,
      rows,
      clients: attachments.size,
    };
  }

  function detach(connection: Connection): void {
    const attachment = attachments.get(connection);
    attachments.delete(connection);
    attachment?.session?.detach(attachment.viewer);
  }

  function resize(connection: Connection, size: Size): void {
    const attachment = attachments.get(connection);
    if (attachment === undefined) return;
    Object.assign(attachment.viewer, { cols: size.cols, rows: size.rows });
    attachment.session?.adjustSize();
  }

  async function handle(request: Exclude<Request, { type: 'resize' | 'attach' }>): Promise<unknown> {
    switch (request.type) {
      case 'start_session':
        return start(request.session);
      case 'list':
        return sessions.all.map((session) => session.info());
      case 'end_session': {
        const session = sessions.find(request.session_id);
        await session?.stop(request.grace_ms);
        return session?.info();
      }
      case 'stop':
        await lifecycle.stop({ endedBy: 'request', nonce: request.nonce, graceMs: request.grace_ms });
        // After the answer.
        setImmediate(onFinished);
        return null;
      case 'snapshot':
        return snapshotOf(await sessions.find(request.session_id)?.text(request.lines));
      case 'ping':
        return null;
    }
  }

  return {
    connections,
    connected: (connection) => void connections.add(connection),
    beat,
    stop: (options) => lifecycle.stop(options),
    onRequest(connection, request) {
      if (request.type === 'resize') resize(connection, request);
      else if (request.type === 'attach') attach(connection, request);
      else return handle(request);
      return null;
    },
    onInput(connection, bytes) {
      const session = attachments.get(connection)?.session;
      if (session?.write(bytes) === false) input.hold(connection, session);
    },
    onClose(connection) {
      connections.delete(connection);
      input.forget(connection);
      detach(connection);
      lifecycle.review();
    },
  };
}
