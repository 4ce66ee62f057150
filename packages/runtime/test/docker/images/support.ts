import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type JackinError, type JackinEvent, resolvePaths, systemClock } from '@jackin/core';
import type { Manifest, Recipe } from '@jackin/instance';
import { startCountingProxy } from '../../../../../tools/docker-lab/counting-proxy.ts';
import type { StartContext } from '../../../src/backend.ts';
import { createEngineClient } from '../../../src/docker/engine.ts';
import { createImages } from '../../../src/docker/images/index.ts';

const MANIFEST = 'version = "v1alpha6"\ndockerfile = "Dockerfile"\nagents = ["shell"]\n';
export const BASE = 'debian:bookworm-slim';

/** A directory of its own, removed by `dispose`. */
export async function scratch(): Promise<{ dir: string; dispose(): Promise<void> }> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'jk-images-')));
  return { dir, dispose: () => rm(dir, { recursive: true, force: true }) };
}

/** Writes a role: a manifest, and the files given, 0644 whatever the umask is. */
export async function writeRole(dir: string, files: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries({ 'jackin.role.toml': MANIFEST, ...files })) {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, 0o644);
  }
  return dir;
}

/** What was thrown, as long as it is ours. */
export async function refusal(call: Promise<unknown>): Promise<JackinError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'toJSON' in error) return error as JackinError;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** What a launch hands to the image port. */
export function launchOf(
  source: string | Recipe['role'],
  user: string,
  build: Recipe['build'] = { args: {} },
  signal = AbortSignal.timeout(280_000),
): StartContext {
  const role = typeof source === 'string' ? { source } : source;
  const recipe = {
    version: 1,
    backend: 'docker',
    role,
    build,
    run: { user, limits: {} },
  } as unknown as Recipe;
  const manifest = { role_key: role.source.replace('builtin:', '').split('/').at(-1) } as Manifest;
  return {
    ref: { instance_id: 'k7p9m2xq', container_base: 'jk-k7p9m2xq-role', manifest },
    recipe,
    signal,
  } as StartContext;
}

export function imagesIn(home: string, shippedRoles?: string) {
  const events: JackinEvent[] = [];
  const paths = resolvePaths({ HOME: home, JACKIN_HOME_DIR: join(home, '.jackin') });
  const images = createImages({
    paths,
    events: (event) => events.push(event),
    clock: systemClock,
    home,
    shippedRoles,
  });
  return { images, events, paths };
}

export interface CountingEngine {
  engine: ReturnType<typeof createEngineClient>;
  /** `METHOD /path` of every request. */
  requests: string[];
  builds(): number;
  close(): Promise<void>;
}

/** A client of the engine whose requests are noted on their way. */
export async function countingEngine(socket: string): Promise<CountingEngine> {
  const { path, requests, close } = await startCountingProxy(socket);
  return {
    engine: createEngineClient({ kind: 'unix', path }),
    requests,
    builds: () => requests.filter((line) => line.startsWith('POST /build')).length,
    close,
  };
}
