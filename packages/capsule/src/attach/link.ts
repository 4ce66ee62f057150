import type { Duplex } from 'node:stream';
import { JackinError } from '@jackin/core';
import { type CapsuleConnection, connectCapsule } from '../client/index.ts';
import { within } from './bounded.ts';
import type { AttachHold, AttachRequest, EndingSlot } from './outcome.ts';

/** The connection together with the stream below it, which knows how much of the input is still unsent. */
export interface Link {
  connection: CapsuleConnection;
  stream: Duplex;
}

const CLOSE_LIMIT_MS = 1000;
/** The capsule is not there, or no longer: a fact to look into, and nobody's mistake. */
const GONE = ['CAPSULE_GONE', 'CAPSULE_UNREACHABLE'];

/**
 * Connects to the capsule, unless `ending` settles first: then nothing of the connection stays and the answer is
 * null. A capsule that is not there is an ending of its own (`lost`).
 * @throws JackinError what the handshake says: CAPSULE_UNPROVEN, CAPSULE_SILENT, PROTOCOL_UNSUPPORTED
 */
export async function connectLink(request: AttachRequest, ending: EndingSlot): Promise<Link | null> {
  const abort = new AbortController();
  let stream: Duplex | undefined;
  const connecting = connectCapsule({
    open: async (signal) => {
      stream = await request.open(signal);
      return stream;
    },
    instanceId: request.instance_id,
    capsuleKey: request.capsule_key,
    clientName: 'jackin attach',
    signal: abort.signal,
  });
  try {
    const connection = await Promise.race([connecting, ending.promise.then(() => null)]);
    if (connection !== null && stream !== undefined) return { connection, stream };
  } catch (error) {
    ending.settle({ kind: 'lost', reason: reasonOfLoss(error) });
    return null;
  }
  connecting.catch(() => {});
  abort.abort();
  return null;
}

/** Why the connection is lost. @throws what is not a loss but an answer */
export function reasonOfLoss(error: unknown): string {
  if (error instanceof JackinError && !GONE.includes(error.code)) throw error;
  return error instanceof Error ? error.message : String(error);
}

export function holdOf(link: Link | null): AttachHold {
  let released: Promise<void> | null = null;
  return {
    async release() {
      if (link === null) return;
      released ??= closeLink(link);
      await released;
    },
  };
}

/** Closes in order, so that what was typed last still arrives; a peer that does not follow is cut off. */
export async function closeLink({ connection, stream }: Link): Promise<void> {
  connection.close();
  if (!(await within(connection.closed, CLOSE_LIMIT_MS))) stream.destroy();
}
