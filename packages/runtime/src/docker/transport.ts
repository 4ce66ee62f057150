import { Duplex } from 'node:stream';
import { openTrustedSocket } from '@jackin/capsule/client';
import { CONNECTED_LINE } from '@jackin/capsule/protocol';
import { errorCode, JackinError } from '@jackin/core';
import type { CapsuleEndpoint, InstanceRef } from '../backend.ts';
import { engineFor, requireContainer } from './acting.ts';
import { INSIDE } from './container-config.ts';
import { ownerOf, userOf } from './container-user.ts';
import { withSignal } from './engine.ts';
import { engineWords, statusOf } from './errors.ts';
import { createFrameReader } from './frames.ts';
import type { DockerDeps } from './options.ts';

/** Longest path a Unix socket can be connected at (docs/storage.md). */
const SOCKET_PATH_MAX_BYTES = 103;
const OPEN_MS = 10_000;
const WORDS_BYTES = 2_048;

/**
 * The way to an instance's capsule: the socket in its run directory, where the path is short enough and what lies there
 * is a socket of the instance's user in a real directory; else the capsule's proxy, run in the container by the engine.
 * Whoever runs in the container can put anything there, so what is not trusted is never connected to.
 */
export function capsuleEndpoint(deps: DockerDeps, ref: InstanceRef): CapsuleEndpoint {
  const { socket } = deps.paths.instance(ref.container_base);
  const direct = Buffer.byteLength(socket) <= SOCKET_PATH_MAX_BYTES;
  return {
    async open(signal) {
      signal.throwIfAborted();
      if (!direct) return openProxy(deps, ref, signal);
      try {
        const expectedUid = ownerOf(ref.manifest.recipe).uid;
        return await openTrustedSocket(socket, { expectedUid })(signal);
      } catch (error) {
        signal.throwIfAborted();
        deps.events({
          type: 'debug',
          message: `the socket of ${ref.container_base} is not used`,
          fields: { code: (error as JackinError).code ?? errorCode(error) },
        });
        return openProxy(deps, ref, signal);
      }
    },
  };
}

/** @throws JackinError `CAPSULE_UNREACHABLE` with the proxy's words, and what the engine says */
async function openProxy(deps: DockerDeps, ref: InstanceRef, signal: AbortSignal): Promise<Duplex> {
  const engine = await engineFor(deps, ref, signal);
  const container = await requireContainer(engine, ref, signal);
  const { uid, gid } = userOf(ref.manifest.recipe);
  const what = `Asking for the capsule of ${ref.container_base}`;
  try {
    return await engine.call(what, { signal, timeoutMs: OPEN_MS }, async (docker, inner) => {
      const exec = await docker.getContainer(container.Id).exec({
        Cmd: [INSIDE.node, INSIDE.capsule, 'proxy', '--socket', INSIDE.socket],
        User: `${uid}:${gid}`,
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
        abortSignal: inner,
      });
      return connectedStream(await exec.start(withSignal(inner, { hijack: true, stdin: true })), ref, inner);
    });
  } catch (error) {
    // Nothing can be run in a container that has ended.
    throw statusOf(error) === 409 ? notReached(ref, engineWords(error)) : error;
  }
}

async function connectedStream(raw: Duplex, ref: InstanceRef, signal: AbortSignal): Promise<Duplex> {
  const { duplex, connected } = proxyStream(raw);
  const onAbort = (): void => void duplex.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await connected;
    return duplex;
  } catch (error) {
    duplex.destroy();
    signal.throwIfAborted();
    throw notReached(ref, (error as Error).message);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The two-way stream of an exec as the bytes of its stdin and stdout. `connected` resolves when the proxy says that it
 * is, and rejects with its own words when it ends first.
 */
export function proxyStream(raw: Duplex): { duplex: Duplex; connected: Promise<void> } {
  let words = '';
  const connected = Promise.withResolvers<void>();
  connected.promise.catch(() => {});
  const duplex = new Duplex({
    read() {
      raw.resume();
    },
    write(chunk, _encoding, done) {
      raw.write(chunk, done);
    },
    final(done) {
      raw.end(done);
    },
    destroy(error, done) {
      raw.destroy();
      done(error);
    },
  });
  const read = createFrameReader(
    (stream, bytes) => {
      if (stream === 'stdout') {
        if (!duplex.push(bytes)) raw.pause();
        return;
      }
      words = `${words}${bytes.toString('utf8')}`.slice(-WORDS_BYTES);
      if (words.split('\n').includes(CONNECTED_LINE)) connected.resolve();
    },
    (reason) => duplex.destroy(new Error(reason)),
  );
  raw.on('data', read);
  const ended = (): void => {
    connected.reject(new Error(words.trim() || 'it ended without a word'));
    duplex.push(null);
  };
  raw.once('end', ended);
  raw.once('close', ended);
  raw.on('error', (error) => {
    connected.reject(error);
    duplex.destroy(error);
  });
  return { duplex, connected: connected.promise };
}

function notReached(ref: InstanceRef, words: string): JackinError {
  return new JackinError({
    code: 'CAPSULE_UNREACHABLE',
    message: `No capsule can be reached in ${ref.container_base}: ${words}`,
    hint: `Look at the instance with: jackin status ${ref.instance_id} --detail`,
    details: { reason: words },
  });
}
