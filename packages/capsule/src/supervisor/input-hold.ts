import type { Connection } from './connection.ts';
import type { Session } from './session.ts';

/** Clients whose input waits, because the program does not read its own. */
export interface InputHold {
  hold(connection: Connection, session: Session): void;
  /** The session takes input again, or will never do so. */
  release(session: Session): void;
  forget(connection: Connection): void;
}

const PROBE_MS = 1000;

/**
 * A connection that is not read does not show that its client is gone. While one is held, it is told the size in
 * force again from time to time: writing finds out.
 */
export function createInputHold(): InputHold {
  const held = new Map<Connection, { session: Session; probe: NodeJS.Timeout }>();

  function forget(connection: Connection): void {
    clearInterval(held.get(connection)?.probe);
    held.delete(connection);
  }

  return {
    hold(connection, session) {
      if (held.has(connection)) return;
      connection.pause();
      const probe = setInterval(() => {
        const { session_id, cols, rows } = session.info();
        connection.sendMessage({ type: 'resized', session_id, cols, rows });
      }, PROBE_MS);
      held.set(connection, { session, probe });
    },
    release(session) {
      for (const [connection, hold] of held) {
        if (hold.session !== session) continue;
        forget(connection);
        connection.resume();
      }
    },
    forget,
  };
}
