import { toJackinError } from '@jackin/core';
import type * as z from 'zod';
import {
  containerListSchema,
  containerSchema,
  type EngineInfo,
  type InspectedContainer,
  imageListSchema,
  infoSchema,
  type ListedContainer,
  type ListedImage,
  type ListedNetwork,
  type ListedVolume,
  networkListSchema,
  volumeListSchema,
} from './api.ts';
import { type EngineClient, type Signalled, withSignal } from './engine.ts';
import { answerInvalid, unless404 } from './errors.ts';

/** One call of a look at everything, in milliseconds: whoever looks waits. */
const LOOK_MS = 5_000;

/** A part of a look: what was seen, or why it could not be. */
export type Look<T> = { ok: true; value: T } | { ok: false; reason: string };

export interface EngineLists {
  info: Look<EngineInfo>;
  containers: Look<ListedContainer[]>;
  images: Look<ListedImage[]>;
  networks: Look<ListedNetwork[]>;
  volumes: Look<ListedVolume[]>;
}

/** Everything an engine has, at once, one call each. Throws only the signal's reason. */
export async function takeLists(engine: EngineClient, signal: AbortSignal): Promise<EngineLists> {
  const [info, containers, images, networks, volumes] = await Promise.all([
    look(signal, () => engineInfo(engine, signal)),
    look(signal, () => listContainers(engine, signal)),
    look(signal, () => listImages(engine, signal)),
    look(signal, () => listNetworks(engine, signal)),
    look(signal, () => listVolumes(engine, signal)),
  ]);
  return { info, containers, images, networks, volumes };
}

/** Turns a failure into a reason. Throws only the signal's own. */
export async function look<T>(signal: AbortSignal, take: () => Promise<T>): Promise<Look<T>> {
  try {
    return { ok: true, value: await take() };
  } catch (thrown) {
    signal.throwIfAborted();
    return { ok: false, reason: toJackinError(thrown).message };
  }
}

export async function engineInfo(engine: EngineClient, signal: AbortSignal): Promise<EngineInfo> {
  const what = 'Asking the engine about itself';
  const answer = await engine.call(what, { signal, timeoutMs: LOOK_MS }, (docker, inner) =>
    (docker as unknown as Signalled).info(withSignal(inner)),
  );
  return checked(what, infoSchema, answer);
}

/** All of them, running or not: a foreign one that has our name has to be seen too. */
export async function listContainers(engine: EngineClient, signal: AbortSignal): Promise<ListedContainer[]> {
  const what = 'Listing the containers';
  const answer = await engine.call(what, { signal, timeoutMs: LOOK_MS }, (docker, inner) =>
    docker.listContainers({ all: true, abortSignal: inner }),
  );
  return checked(what, containerListSchema, answer);
}

/** Also those that are only parts of others: an image without a tag that something was built on is not gone. */
export async function listImages(engine: EngineClient, signal: AbortSignal): Promise<ListedImage[]> {
  const what = 'Listing the images';
  const answer = await engine.call(what, { signal, timeoutMs: LOOK_MS }, (docker, inner) =>
    docker.listImages({ all: true, abortSignal: inner }),
  );
  return checked(what, imageListSchema, answer);
}

export async function listNetworks(engine: EngineClient, signal: AbortSignal): Promise<ListedNetwork[]> {
  const what = 'Listing the networks';
  const answer = await engine.call(what, { signal, timeoutMs: LOOK_MS }, (docker, inner) =>
    docker.listNetworks({ abortSignal: inner }),
  );
  return checked(what, networkListSchema, answer);
}

export async function listVolumes(engine: EngineClient, signal: AbortSignal): Promise<ListedVolume[]> {
  const what = 'Listing the volumes';
  const answer = await engine.call(what, { signal, timeoutMs: LOOK_MS }, (docker, inner) =>
    docker.listVolumes({ abortSignal: inner }),
  );
  return checked(what, volumeListSchema, answer).Volumes ?? [];
}

/** Null: there is none. */
export async function inspectContainer(
  engine: EngineClient,
  id: string,
  signal: AbortSignal,
): Promise<InspectedContainer | null> {
  const what = 'Inspecting the container';
  const answer = await unless404(
    engine.call(what, { signal, timeoutMs: LOOK_MS }, (docker, inner) =>
      docker.getContainer(id).inspect({ abortSignal: inner }),
    ),
    null,
  );
  return answer === null ? null : checked(what, containerSchema, answer);
}

/** @throws JackinError `ENGINE_ANSWER_INVALID` */
export function checked<T>(what: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw answerInvalid(what, parsed.error);
  return parsed.data;
}
