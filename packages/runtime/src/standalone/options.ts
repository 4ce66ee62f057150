import type { Clock, EventSink, JackinPaths } from '@jackin/core';

export interface StandaloneOptions {
  paths: JackinPaths;
  /** The program that is the capsule, e.g. the running Node and its bundle. */
  capsuleProgram: { file: string; args: string[] };
  clock: Clock;
  events: EventSink;
  env: NodeJS.ProcessEnv;
  /** How long a capsule may take until it listens; default 15 000 ms. */
  readyMs?: number;
}
