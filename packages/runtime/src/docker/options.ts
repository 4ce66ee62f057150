import type { Clock, EventSink, JackinPaths } from '@jackin/core';
import type { Connector } from './connect.ts';
import type { ImagePort } from './ports.ts';

export interface DockerOptions {
  paths: JackinPaths;
  /** Where the engine is found from. */
  env: NodeJS.ProcessEnv;
  clock: Clock;
  events: EventSink;
  images: ImagePort;
  /**
   * The files the capsule runs from, made if they are missing; asked for only when a container is made or mended.
   * @param arch the engine's architecture in Node's words
   */
  runtime(arch: string, signal: AbortSignal): Promise<{ dir: string; digest: string }>;
  /** How long a capsule may take until it listens, in milliseconds; default 30 000. */
  readyMs?: number;
}

/** What the parts of the adapter share. */
export interface DockerDeps extends DockerOptions {
  connector: Connector;
}
