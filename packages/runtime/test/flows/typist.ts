import { connectCapsule } from '@jackin/capsule/client';
import type { Attach, AttachOutcome, Prompts } from '../../src/index.ts';

/** What the operator does once attached. The attachment also ends by itself: with the agent, or with the capsule. */
export type Script = (session: Typist) => Promise<AttachOutcome | 'detach'>;

/** A headless terminal that is really attached to the session. */
export interface Typist {
  type(text: string): void;
  instanceId: string;
}

/** Nobody can be asked, and a question all the same fails the test. */
export const silentPrompts: Prompts = {
  available: false,
  acknowledgeUnfinished: () => unexpected('acknowledgeUnfinished'),
  chooseEnd: () => unexpected('chooseEnd'),
  chooseSession: () => unexpected('chooseSession'),
  confirm: () => unexpected('confirm'),
  chooseInstance: () => unexpected('chooseInstance'),
  verifyPreserved: () => unexpected('verifyPreserved'),
};

function unexpected(question: string): Promise<never> {
  return Promise.reject(new Error(`${question} was asked although nobody was expected to be`));
}

export const noAttach: Attach = { run: () => Promise.reject(new Error('nothing was expected to attach')) };

/** Joins the session over the capsule's own protocol; the end of its agent is what the capsule says. */
export function scriptedAttach(script: Script, ids: Set<string>): Attach {
  return {
    async run(request) {
      ids.add(request.instance_id);
      const connection = await connectCapsule({
        open: request.open,
        instanceId: request.instance_id,
        capsuleKey: request.capsule_key,
        clientName: 'typist',
        signal: AbortSignal.timeout(10_000),
      });
      const { promise: end, resolve } = Promise.withResolvers<Extract<AttachOutcome, { kind: 'ended' }>>();
      const session = await connection.attach({ sessionId: request.session_id, cols: 90, rows: 25 });
      const hold = { release: async () => connection.close() };
      const settle = (info: typeof session) => {
        if (info.ended === null || info.session_id !== session.session_id) return;
        const { code, signal, oom } = info.ended;
        resolve({ kind: 'ended', code, signal, oom, hold });
      };
      connection.onMessage((message) => {
        if (message.type === 'session_ended') settle(message.session);
      });
      settle(session);
      const lost = connection.closed.then(({ reason }): AttachOutcome => ({ kind: 'lost', reason }));
      const done = script({
        type: (text) => connection.write(Buffer.from(text)),
        instanceId: request.instance_id,
      });
      const wanted = await Promise.race([done, end, lost]);
      if (wanted === 'detach') {
        connection.close();
        return { kind: 'detached' };
      }
      return wanted;
    },
  };
}

/** Types the line and waits until the agent has ended. */
export const type =
  (line: string): Script =>
  async (session) => {
    session.type(`${line}\r`);
    return untilItEnds();
  };

/** The operator waits; whatever happens to the session ends the attachment. */
export const untilItEnds = (): Promise<never> => new Promise(() => undefined);
