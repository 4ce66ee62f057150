import { Agent as HttpsAgent } from 'node:https';
import { JackinError } from '@jackin/core';
import Docker from 'dockerode';
import { bounded } from '../observe/bounded.ts';
import { engineFailure } from './errors.ts';

// An import of it reads every export, those that load an HTTP client of its own as well: a tenth of a short command.
const { Agent: HttpAgent } = process.getBuiltinModule('node:http');

/** Bound of one engine call that says nothing else, in milliseconds. */
const ENGINE_CALL_MS = 20_000;

export interface CallOptions {
  /** Its reason is thrown as it is. */
  signal: AbortSignal;
  /** Upper bound in milliseconds; default `ENGINE_CALL_MS`. */
  timeoutMs?: number;
}

/** How an engine is reached. */
export type EngineAddress =
  | { kind: 'unix'; path: string }
  | {
      kind: 'tcp';
      host: string;
      port: number;
      tls: { ca: Buffer | null; cert: Buffer | null; key: Buffer | null; verify: boolean } | null;
    };

/** One engine. Thin on purpose: it bounds and names, it decides nothing. */
export interface EngineClient {
  /** As recorded in the manifest and shown to the operator: `unix:///…` or `tcp://host:port`. */
  readonly endpoint: string;
  readonly address: EngineAddress;
  /**
   * One bounded call. `run` gets the API and a signal it must pass on (`abortSignal`); streams have to be consumed
   * inside of it. `what` names the call in errors, as in "Listing the images".
   * @throws JackinError `ENGINE_UNREACHABLE`, `ENGINE_TIMEOUT`, and `ENGINE_REFUSED` for every answer that is an error:
   * `statusOf` and `engineWords` of errors.ts read it. JackinErrors of `run` pass through.
   */
  call<T>(
    what: string,
    options: CallOptions,
    run: (docker: Docker, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

/** A client for one address. Connects only when something is called. */
export function createEngineClient(address: EngineAddress): EngineClient {
  const endpoint = endpointOf(address);
  const docker = new Docker(modemOptions(address));
  return {
    endpoint,
    address,
    async call(what, { signal, timeoutMs = ENGINE_CALL_MS }, run) {
      signal.throwIfAborted();
      try {
        return await bounded(what, timeoutMs, signal, (inner) => run(docker, inner));
      } catch (thrown) {
        signal.throwIfAborted();
        if (thrown instanceof JackinError && thrown.code !== 'OUTSIDE_CALL_TIMEOUT') throw thrown;
        throw engineFailure(thrown, { what, endpoint, timeoutMs });
      }
    },
  };
}

/** Options of an API call with the signal in them, which the library takes everywhere and its types do not. */
export function withSignal<T extends object>(signal: AbortSignal, options?: T): T {
  return { ...options, abortSignal: signal } as unknown as T;
}

/** Calls whose types take no options at all. */
export interface Signalled {
  ping(options: object): Promise<unknown>;
  info(options: object): Promise<unknown>;
}

function endpointOf(address: EngineAddress): string {
  if (address.kind === 'unix') return `unix://${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `tcp://${host}:${address.port}`;
}

/** Everything is said, so that the library takes nothing from the environment. No connection outlives its call. */
function modemOptions(address: EngineAddress): Docker.DockerOptions {
  if (address.kind === 'unix') {
    const agent = new HttpAgent({ keepAlive: false });
    return { ...NOTHING, socketPath: address.path, protocol: 'http', agent } as Docker.DockerOptions;
  }
  const { host, port, tls } = address;
  if (tls === null) {
    const agent = new HttpAgent({ keepAlive: false });
    return { ...NOTHING, host, port, protocol: 'http', agent } as Docker.DockerOptions;
  }
  const agent = new HttpsAgent({ keepAlive: false, rejectUnauthorized: tls.verify });
  const { ca, cert, key } = tls;
  return {
    ...NOTHING,
    host,
    port,
    protocol: 'https',
    agent,
    ca: ca ?? undefined,
    cert: cert ?? undefined,
    key: key ?? undefined,
  } as Docker.DockerOptions;
}

const NOTHING = {
  host: undefined,
  port: undefined,
  socketPath: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  username: undefined,
  timeout: undefined,
};
