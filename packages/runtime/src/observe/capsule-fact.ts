import type { SessionInfo } from '@jackin/capsule/protocol';
import { sessionInfoSchema } from '@jackin/capsule/protocol';
import { toJackinError } from '@jackin/core';
import * as z from 'zod';
import type { Backend, CapsuleFact, ContainerFact, InstanceRef } from '../backend.ts';
import { bounded } from './bounded.ts';
import type { CapsuleAccess } from './capsule-access.ts';

/** These say that we could not ask; every other failure is a capsule that was asked and did not answer. */
const COULD_NOT_ASK = new Set([
  'AGENT_CONFIG_MISSING',
  'AGENT_CONFIG_INVALID',
  'STATE_NOT_READABLE',
  'INTERNAL',
]);

/**
 * Asks the capsule for its sessions, read-only, within `timeoutMs`. Only a running container is asked. Never throws:
 * what cannot be asked is `unknown`, what was asked and did not answer as itself is `silent`.
 */
export async function observeCapsule(input: {
  ref: InstanceRef;
  container: ContainerFact;
  backend: Backend | undefined;
  capsule: CapsuleAccess;
  timeoutMs: number;
}): Promise<CapsuleFact> {
  const { container, backend } = input;
  if (container.state === 'unreachable') return { state: 'unknown', reason: container.reason };
  if (container.state !== 'running')
    return { state: 'silent', reason: `the container is ${container.state}` };
  if (!backend) return { state: 'unknown', reason: 'no backend answers for this instance' };
  try {
    const sessions = await bounded('The capsule', input.timeoutMs, undefined, (signal) =>
      askSessions(input.ref, backend, input.capsule, signal),
    );
    return {
      state: 'answers',
      sessions: sessions.map(({ session_id, agent, alive }) => ({ session_id, agent, alive })),
      clients: sessions.reduce((sum, session) => sum + session.clients, 0),
    };
  } catch (thrown) {
    const error = toJackinError(thrown);
    return { state: COULD_NOT_ASK.has(error.code) ? 'unknown' : 'silent', reason: error.message };
  }
}

async function askSessions(
  ref: InstanceRef,
  backend: Backend,
  capsule: CapsuleAccess,
  signal: AbortSignal,
): Promise<SessionInfo[]> {
  const connection = await capsule.connect(ref, backend.capsule(ref), signal);
  try {
    return z.array(sessionInfoSchema).parse(await connection.list());
  } finally {
    connection.close();
  }
}
