import { randomBytes } from 'node:crypto';
import { awakeSignal, JackinError } from '@jackin/core';
import { type CapsuleMessage, encodeMessage, PROTOCOL_MAX, PROTOCOL_MIN, proves } from '../protocol/index.ts';
import { CAPSULE_VERSION } from '../version.ts';
import { type Channel, createChannel } from './channel.ts';
import type { CapsuleConnection, ConnectOptions, Welcome } from './connection.ts';
import { createRequests } from './requests.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Connects to the capsule of one instance. Nothing secret is sent before the other side has proven to hold the
 * instance's key (README, "Handshake").
 * @throws JackinError `CAPSULE_UNPROVEN` not this instance's capsule; `CAPSULE_SILENT` no answer in time;
 * `PROTOCOL_UNSUPPORTED` no version in common; what `open` throws; the signal's reason when aborted
 */
export async function connectCapsule(options: ConnectOptions): Promise<CapsuleConnection> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const late = silent(options.instanceId, timeoutMs);
  const limit = awakeSignal(timeoutMs, late);
  const signal = AbortSignal.any([options.signal, limit.signal]);
  try {
    const stream = await within(signal, options.open(signal), (late) => late.destroy());
    const channel = createChannel(stream);
    try {
      const welcome = await within(signal, greet(channel, options));
      return createRequests({ channel, welcome, timeoutMs });
    } catch (error) {
      channel.destroy();
      throw error;
    }
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (limit.signal.aborted) throw late;
    throw error;
  } finally {
    limit.clear();
  }
}

/** The first message must be the welcome, and prove itself; anything else comes from somebody else. */
async function greet(channel: Channel, options: ConnectOptions): Promise<Welcome> {
  const nonce = randomBytes(32).toString('hex');
  const first = Promise.withResolvers<CapsuleMessage>();
  const stop = channel.onMessage(first.resolve);
  const ended = channel.closed.then(({ reason }) => {
    throw unproven(options.instanceId, reason);
  });
  channel.send(
    encodeMessage({
      type: 'hello',
      protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
      client: { name: options.clientName.slice(0, 64), version: CAPSULE_VERSION },
      nonce,
    }),
  );
  const message = await Promise.race([first.promise, ended]);
  stop();
  if (message.type === 'failure') throw refused(message.error, options.instanceId);
  if (message.type !== 'welcome') throw unproven(options.instanceId, `its first message was ${message.type}`);
  if (message.instance_id !== options.instanceId) {
    throw unproven(options.instanceId, `it is the capsule of ${message.instance_id.slice(0, 64)}`);
  }
  if (!proves(message.proof, options.capsuleKey, nonce)) {
    throw unproven(options.instanceId, 'it does not hold the key of the instance');
  }
  if (message.protocol < PROTOCOL_MIN || message.protocol > PROTOCOL_MAX) {
    throw unsupported(`it chose protocol ${message.protocol}`);
  }
  return message;
}

/** Like the promise, but no longer than the signal; what comes too late is given back. */
function within<T>(signal: AbortSignal, promise: Promise<T>, discard?: (late: T) => void): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    promise.then(discard, () => {});
    aborted.reject(signal.reason);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

function refused({ code, message }: { code: string; message: string }, instanceId: string): JackinError {
  return code === 'PROTOCOL_UNSUPPORTED' ? unsupported(message) : unproven(instanceId, message);
}

function unsupported(reason: string): JackinError {
  return new JackinError({
    code: 'PROTOCOL_UNSUPPORTED',
    message: `The capsule and this jackin have no protocol version in common: ${reason}`,
    hint: 'Use the jackin version that started the instance, or stop and resume it with this one.',
  });
}

function unproven(instanceId: string, reason: string): JackinError {
  return new JackinError({
    code: 'CAPSULE_UNPROVEN',
    message: `What answers for instance ${instanceId} has not proven to be its capsule: ${reason}.`,
    hint: `Look at it with: jackin status ${instanceId}`,
  });
}

function silent(instanceId: string, timeoutMs: number): JackinError {
  return new JackinError({
    code: 'CAPSULE_SILENT',
    message: `The capsule of instance ${instanceId} did not answer within ${timeoutMs} ms.`,
    hint: `Look at it with: jackin status ${instanceId}`,
  });
}
