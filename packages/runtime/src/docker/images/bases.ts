import type { Readable } from 'node:stream';
import { JackinError, redact } from '@jackin/core';
import * as z from 'zod';
import type { ImageBase } from '../../backend.ts';
import { type EngineClient, withSignal } from '../engine.ts';
import { engineWords, unless404 } from '../errors.ts';
import { jsonLines, streamError } from './json-lines.ts';

const PULL_MS = 20 * 60_000;
const inspected = z.object({
  Id: z.string(),
  RepoDigests: z.array(z.string()).nullish(),
});

/**
 * The images a build reads, as this engine has them; one that is missing is pulled.
 * @throws JackinError `IMAGE_BASE_UNAVAILABLE` naming the first that cannot be had
 */
export async function ensureBases(
  engine: EngineClient,
  refs: readonly string[],
  options: { signal: AbortSignal; onPull(ref: string): void },
): Promise<ImageBase[]> {
  const bases: ImageBase[] = [];
  for (const ref of refs) {
    let base = await findBase(engine, ref, options.signal);
    if (base === null) {
      options.onPull(ref);
      await pull(engine, ref, options.signal);
      base = await findBase(engine, ref, options.signal);
    }
    if (base === null) throw unavailable(ref, 'the engine pulled it and does not have it', engine);
    bases.push(base);
  }
  return bases;
}

/** As the value of a label: `ref|digest|image id`, separated by commas. */
export function basesLabel(bases: readonly ImageBase[]): string {
  return bases.map(({ ref, digest, image_id: id }) => `${ref}|${digest ?? ''}|${id}`).join(',');
}

export function parseBasesLabel(label: string): ImageBase[] {
  return label
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [ref = '', digest = '', id = ''] = part.split('|');
      return { ref, digest: digest === '' ? null : digest, image_id: id };
    });
}

async function findBase(engine: EngineClient, ref: string, signal: AbortSignal): Promise<ImageBase | null> {
  const found = await unless404(
    engine.call(`Looking at the image ${ref}`, { signal }, (docker, inner) =>
      docker.getImage(ref).inspect(withSignal(inner, {})),
    ),
    null,
  );
  if (found === null) return null;
  const { Id, RepoDigests } = inspected.parse(found);
  return { ref, digest: digestOf(ref, RepoDigests ?? []), image_id: Id };
}

/** An image may be known under several repositories: the digest of the one it was asked for by. */
function digestOf(ref: string, repoDigests: readonly string[]): string | null {
  const own = /@(sha256:[0-9a-f]{64})$/.exec(ref)?.[1];
  if (own !== undefined) return own;
  const repository = ref.replace(/:[^/:]+$/, '');
  const wanted = repoDigests.find((digest) => digest.split('@')[0] === repository) ?? null;
  return wanted?.split('@')[1] ?? null;
}

async function pull(engine: EngineClient, ref: string, signal: AbortSignal): Promise<void> {
  try {
    await engine.call(`Pulling ${ref}`, { signal, timeoutMs: PULL_MS }, async (docker, abortSignal) => {
      // Without a tag the engine would take every tag there is.
      const fromImage = /(:[^/]+|@sha256:\w+)$/.test(ref) ? ref : `${ref}:latest`;
      const stream = (await docker.createImage({ fromImage, abortSignal })) as Readable;
      const stop = () => stream.destroy(abortSignal.reason);
      abortSignal.addEventListener('abort', stop, { once: true });
      try {
        for await (const value of jsonLines(stream)) {
          const error = streamError(value);
          if (error !== null) throw unavailable(ref, error.message, engine);
        }
      } finally {
        abortSignal.removeEventListener('abort', stop);
      }
    });
  } catch (error) {
    signal.throwIfAborted();
    const answered = error instanceof JackinError && error.code === 'ENGINE_REFUSED';
    throw answered ? unavailable(ref, engineWords(error), engine) : error;
  }
}

function unavailable(ref: string, reason: string, engine: EngineClient): JackinError {
  return new JackinError({
    code: 'IMAGE_BASE_UNAVAILABLE',
    message: `The base image ${ref} is not on the engine at ${engine.endpoint} and cannot be pulled: ${redact(reason)}`,
    hint: `Get it with: docker pull ${ref}`,
    details: { base: ref, endpoint: engine.endpoint, reason },
  });
}
