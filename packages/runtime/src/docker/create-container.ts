import { JackinError } from '@jackin/core';
import type Docker from 'dockerode';
import * as z from 'zod';
import type { EngineClient } from './engine.ts';
import { checked } from './lists.ts';

/** One call that makes a container. Its id comes back. @throws JackinError as `EngineClient.call` */
export async function createContainer(
  engine: EngineClient,
  options: { name: string; config: Docker.ContainerCreateOptions; signal: AbortSignal },
): Promise<string> {
  const { name, config, signal } = options;
  const what = `Creating the container ${name}`;
  const made = await engine.call(what, { signal }, (docker, inner) =>
    // Without this the library would repeat the whole configuration in the address.
    docker.createContainer({
      _query: { name },
      _body: config,
      abortSignal: inner,
    } as Docker.ContainerCreateOptions),
  );
  return checked(what, z.string().min(1), made.id);
}

/** The engine already has a container of this name. */
export function isNameConflict(error: unknown): boolean {
  return error instanceof JackinError && error.details.status === 409;
}
