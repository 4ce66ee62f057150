import { JackinError } from '@jackin/core';
import type { SessionPlan } from '../protocol/index.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';

/** All sessions, living and ended, oldest first. */
export interface Sessions {
  readonly all: readonly Session[];
  readonly anyAlive: boolean;
  /** @throws JackinError `SESSION_EXISTS`, `TOO_MANY_SESSIONS`, and what starting says */
  start(plan: SessionPlan, events: Omit<SessionOptions, 'plan' | 'instanceId' | 'onStuck'>): Session;
  /** Null: the newest living one, else the newest; undefined when there is none at all. @throws JackinError `SESSION_NOT_FOUND` */
  find(id: string | null): Session | undefined;
}

/** What a client that attaches before any session is attached to; no session can have this id. */
export const WAITING_ID = 'waiting';
const MAX_ALIVE = 32;
/** Ended sessions whose screen can still be looked at. */
const MAX_ENDED = 16;

export function createSessions(
  instanceId: string,
  onStuck: (session: string, pids: number[]) => void,
): Sessions {
  const sessions: Session[] = [];
  const alive = (): Session[] => sessions.filter((session) => session.alive);

  /** The oldest ended ones that nobody looks at make room. */
  function evict(): void {
    const ended = sessions.filter((session) => !session.alive && session.info().clients === 0);
    for (const session of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      sessions.splice(sessions.indexOf(session), 1);
      session.dispose();
    }
  }

  return {
    get all() {
      return sessions;
    },
    get anyAlive() {
      return sessions.some((session) => session.alive);
    },
    start(plan, events) {
      const id = plan.session_id;
      if (id === WAITING_ID || sessions.some((session) => session.id === id)) {
        throw new JackinError({ code: 'SESSION_EXISTS', message: `There is a session ${id} already.` });
      }
      if (alive().length >= MAX_ALIVE) {
        throw new JackinError({
          code: 'TOO_MANY_SESSIONS',
          message: `${MAX_ALIVE} sessions run already; end one first.`,
        });
      }
      evict();
      const session = startSession({
        ...events,
        plan,
        instanceId,
        onStuck: (left) =>
          onStuck(
            id,
            left.map(({ pid }) => pid),
          ),
      });
      sessions.push(session);
      return session;
    },
    find(id) {
      if (id === null) return alive().at(-1) ?? sessions.at(-1);
      const session = sessions.find((one) => one.id === id);
      if (session !== undefined) return session;
      throw new JackinError({
        code: 'SESSION_NOT_FOUND',
        message: `There is no session ${id} in this instance.`,
      });
    },
  };
}
