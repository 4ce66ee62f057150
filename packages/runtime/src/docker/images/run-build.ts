import type { Readable } from 'node:stream';
import { type Clock, JackinError } from '@jackin/core';
import type Docker from 'dockerode';
import type { EngineClient } from '../engine.ts';
import { engineWords, statusOf } from '../errors.ts';
import { type BuildProgress, followBuild } from './build-progress.ts';
import { contextTar } from './context-tar.ts';
import { OWN_STEP_NAME } from './derive.ts';
import { jsonLines } from './json-lines.ts';
import type { ImageDescription } from './plan-image.ts';
import { engineTimeMs, sweepIntermediates } from './sweep.ts';

/** How long one build may take, in milliseconds. */
export const BUILD_MS = 60 * 60_000;

const MESSAGE_CHARS = 160;
/** How long a builder may take to let go of what it made, in milliseconds. */
const LET_GO_MS = 5_000;

/** 1: the classic builder, which every engine has without another program. 2: BuildKit. */
type Builder = '1' | '2';

export interface BuildRequest {
  image: ImageDescription;
  /** What is built, labels included. */
  dockerfile: string;
  args: Readonly<Record<string, string>>;
  roleKey: string;
  clock: Clock;
  signal: AbortSignal;
  onStep(step: string): void;
  onLine(line: string): void;
}

type Outcome = { ok: true; image_id: string } | { ok: false; reason: string; progress: BuildProgress };

/**
 * One build over the API. Nothing without a name is left behind when it fails or is interrupted.
 * @returns the image's id
 * @throws JackinError `IMAGE_BUILD_FAILED`, `ROLE_CHANGED`, `ENGINE_UNREACHABLE`, `ENGINE_TIMEOUT`
 */
export async function runBuild(engine: EngineClient, request: BuildRequest): Promise<string> {
  const first: Builder = request.image.needs_buildkit ? '2' : '1';
  let outcome = await attempt(engine, request, first);
  if (!outcome.ok && first === '1' && wantsBuildkit(outcome.reason))
    outcome = await attempt(engine, request, '2');
  if (outcome.ok) return outcome.image_id;
  throw buildFailed(request, outcome.reason, outcome.progress);
}

async function attempt(engine: EngineClient, request: BuildRequest, builder: Builder): Promise<Outcome> {
  const { image, signal, clock } = request;
  const progress = followBuild(request.onStep, request.onLine);
  const sinceMs = await engineTimeMs(engine, signal);
  try {
    const what = `Building the image ${image.image_tag}`;
    await engine.call(what, { signal, timeoutMs: BUILD_MS }, async (docker, abortSignal) => {
      const stream = await send(docker, request, builder, abortSignal);
      const stop = () => stream.destroy();
      abortSignal.addEventListener('abort', stop, { once: true });
      try {
        for await (const value of jsonLines(stream)) progress.take(value);
      } finally {
        abortSignal.removeEventListener('abort', stop);
      }
    });
  } catch (error) {
    await sweepIntermediates(engine, progress.made, { keep: null, sinceMs, waitMs: LET_GO_MS, clock });
    signal.throwIfAborted();
    if (statusOf(error) === null) throw error;
    return { ok: false, reason: engineWords(error), progress };
  }
  const { imageId } = progress;
  const reason =
    progress.failure?.message ?? (imageId === null ? 'the builder ended without an image' : null);
  // A finished stage that is no part of the image stays behind without a name, too.
  if (reason !== null || image.stages > 1) {
    // The container of the step that failed is removed after the failure was told.
    const waitMs = reason === null ? 0 : LET_GO_MS;
    // Of a failed build it is the image of an earlier stage.
    const keep = reason === null ? imageId : null;
    await sweepIntermediates(engine, progress.made, { keep, sinceMs, waitMs, clock });
  }
  return reason === null && imageId !== null
    ? { ok: true, image_id: imageId }
    : { ok: false, reason: reason ?? '', progress };
}

/**
 * Not the library's `buildImage`: for BuildKit that opens a session from a schema file that a bundle does not have.
 * A build whose images are all there needs no session.
 */
function send(
  docker: Docker,
  request: BuildRequest,
  version: Builder,
  abortSignal: AbortSignal,
): Promise<Readable> {
  const { image, dockerfile, args } = request;
  const context = contextTar({
    ...image.context,
    dockerfile: image.dockerfile_path,
    dockerfileText: dockerfile,
  });
  const call = {
    path: '/build?',
    method: 'POST',
    file: context,
    isStream: true,
    abortSignal,
    options: {
      t: image.image_tag,
      dockerfile: image.dockerfile_path,
      buildargs: args,
      rm: true,
      forcerm: true,
      version,
    },
    statusCodes: { 200: true, 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(call, (error: unknown, stream: unknown) => {
      if (error !== null && error !== undefined) {
        context.destroy();
        return reject(error);
      }
      const answer = stream as Readable;
      // A builder that ends early leaves the rest of it unread.
      answer.once('close', () => context.destroy());
      resolve(answer);
    });
  });
}

function wantsBuildkit(reason: string): boolean {
  return /buildkit|(classic|legacy) builder|builder version/i.test(reason);
}

function buildFailed(request: BuildRequest, reason: string, progress: BuildProgress): JackinError {
  const { image, roleKey } = request;
  const { step = null, exit_code: exitCode = null } = progress.failure ?? {};
  const file = `${image.context.dir}/${image.dockerfile_path}`;
  const at = step === null ? '' : ` at ${JSON.stringify(step.slice(0, MESSAGE_CHARS))}`;
  return new JackinError({
    code: 'IMAGE_BUILD_FAILED',
    message: `The image of the role ${roleKey} was not built: ${exitCode === null ? reason : `exit code ${exitCode}`}${at}`,
    hint: hintFor(file, step, exitCode),
    details: {
      role: roleKey,
      dockerfile: file,
      step,
      exit_code: exitCode,
      engine_message: reason,
      log_tail: [...progress.tail],
    },
  });
}

function hintFor(file: string, step: string | null, exitCode: number | null): string {
  if (step?.includes(OWN_STEP_NAME)) {
    return `Use a FROM in ${file} that has /bin/sh, mkdir, chown and chmod.`;
  }
  // A step that ran and failed, or a text that is no Dockerfile; else it may be the engine's trouble.
  if (exitCode !== null || step === null) return `Correct ${file}.`;
  return `Correct ${file}, or what the engine complains of (\`jackin doctor\`).`;
}
