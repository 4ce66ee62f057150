import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  ensurePrivateDir,
  JackinError,
  type JackinPaths,
  readFileBounded,
  writeFileDurable,
} from '@jackin/core';
import { INSIDE } from './container-config.ts';
import { createContainer } from './create-container.ts';
import { type EngineClient, withSignal } from './engine.ts';
import { engineWords, statusOf } from './errors.ts';
import { LABEL } from './labels.ts';
import { imageIncompatible } from './named-errors.ts';
import { attachOutput, watchOutput } from './output-watch.ts';

const PREFLIGHT_MS = 60_000;
const CLEAN_UP_MS = 15_000;
const CACHE_MAX_BYTES = 4_096;
/** What the engine and a loader say when a program cannot even begin in an image. */
const CANNOT_BEGIN = /no such file or directory|exec format error|not found|permission denied/i;

/**
 * Makes sure that the capsule's Node runs in an image, once per image and runtime: what worked is remembered in the cache
 * directory. No container is left behind.
 * @throws JackinError `IMAGE_INCOMPATIBLE` with what the loader said
 */
export async function preflight(input: {
  engine: EngineClient;
  paths: JackinPaths;
  image: { id: string; tag: string };
  user: { uid: number; gid: number };
  runtime: { dir: string; digest: string };
  signal: AbortSignal;
}): Promise<void> {
  const { image, runtime, paths, signal } = input;
  const key = createHash('sha256').update(`${image.id}\n${runtime.digest}`).digest('hex').slice(0, 32);
  const file = join(paths.cacheDir, 'preflight', key);
  if ((await readFileBounded(file, { maxBytes: CACHE_MAX_BYTES }).catch(() => null)) !== null) return;
  const answer = await run(input);
  if (!/^v\d+\.\d+\.\d+$/.test(answer)) throw imageIncompatible(image.tag, answer || 'it said nothing');
  signal.throwIfAborted();
  await remember(file, answer);
}

/** What `node --version` said in the image, or why it could not. */
async function run(input: Parameters<typeof preflight>[0]): Promise<string> {
  const { engine, image, user, runtime, signal } = input;
  const id = await createContainer(engine, {
    name: `jk-preflight-${randomBytes(6).toString('hex')}`,
    signal,
    config: {
      Image: image.id,
      User: `${user.uid}:${user.gid}`,
      Entrypoint: [INSIDE.node],
      Cmd: ['--version'],
      WorkingDir: '/',
      Labels: { [LABEL.managed]: 'true', [LABEL.kind]: 'preflight' },
      HostConfig: {
        NetworkMode: 'none',
        RestartPolicy: { Name: 'no' },
        Mounts: [{ Type: 'bind', Source: runtime.dir, Target: INSIDE.runtime, ReadOnly: true }],
      },
    },
  });
  try {
    return await said(engine, id, signal);
  } catch (error) {
    const words = engineWords(error);
    const refused = statusOf(error) !== null && words.includes(INSIDE.node);
    if (refused && CANNOT_BEGIN.test(words)) throw imageIncompatible(image.tag, words);
    throw error;
  } finally {
    await discard(engine, id);
  }
}

async function said(engine: EngineClient, id: string, signal: AbortSignal): Promise<string> {
  const options = { signal, timeoutMs: PREFLIGHT_MS };
  return engine.call('Trying the image', options, async (docker, inner) => {
    const output = await attachOutput(docker, id, inner);
    try {
      const watch = watchOutput(output, null);
      await docker.getContainer(id).start({ abortSignal: inner });
      await watch.outcome(PREFLIGHT_MS, inner);
      return watch.tail().trim();
    } finally {
      output.destroy();
    }
  });
}

/** By force: it is a probe of ours that holds nothing, and it may still run. */
async function discard(engine: EngineClient, id: string): Promise<void> {
  const options = { signal: AbortSignal.timeout(CLEAN_UP_MS), timeoutMs: CLEAN_UP_MS };
  await engine
    .call('Removing the probe', options, (docker, inner) =>
      docker.getContainer(id).remove(withSignal(inner, { force: true, v: true })),
    )
    .catch(() => {});
}

/** A cache that cannot be written costs a second the next time, and nothing else. */
async function remember(file: string, version: string): Promise<void> {
  try {
    await ensurePrivateDir(join(file, '..'));
    await writeFileDurable(file, `${version}\n`);
  } catch (error) {
    if (!(error instanceof JackinError)) throw error;
  }
}
