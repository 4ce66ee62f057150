import { afterAll, beforeAll, describe } from '@jest/globals';
import Docker from 'dockerode';
import { BASE_IMAGE, importNoGlibc } from './base-image.ts';
import { labAvailability, startLab } from './index.ts';
import type { DockerLab } from './lab.ts';
import { ping } from './ping.ts';
import { type Engine, sharedLab } from './shared.ts';

/** The first start on a machine may install packages and build the base image. */
const START_MS = 900_000;
const END_MS = 120_000;

type Source<T> =
  | { ok: true; open(): Promise<T>; close(engine: T): Promise<void> }
  | { ok: false; reason: string };

/**
 * A suite that needs an engine; `engine()` has it as soon as tests and hooks run. `harmless` suites share one engine
 * and leave it as they found it; on a machine that cannot run a private one they use the operator's own. `disaster`
 * suites get a private one to break. Without an engine the suite is skipped and the summary counts its tests; with
 * CI=true that is an error.
 *
 * Await it at the top level of the test file.
 */
export async function describeOnEngine(
  kind: 'harmless',
  title: string,
  body: (engine: () => Engine) => void,
): Promise<void>;
export async function describeOnEngine(
  kind: 'disaster',
  title: string,
  body: (lab: () => DockerLab) => void,
): Promise<void>;
export async function describeOnEngine(
  kind: 'harmless' | 'disaster',
  title: string,
  body: (engine: () => DockerLab) => void,
): Promise<void> {
  // The overloads say which of the two the body may rely on.
  const source = (await (kind === 'harmless' ? harmlessEngine() : privateEngine())) as Source<DockerLab>;
  if (!source.ok) {
    if (process.env.CI === 'true') throw new Error(`No engine for "${title}": ${source.reason}`);
    // The summary counts the tests; jest does not show the titles of a file that has no other.
    process.stderr.write(`Skipped for want of an engine: ${title} (${source.reason})\n`);
    // biome-ignore lint/suspicious/noSkippedTests: only where the machine has no engine, and never with CI=true.
    describe.skip(title, () => body(unavailable));
    return;
  }
  describe(title, () => {
    let engine: DockerLab | undefined;
    beforeAll(async () => {
      engine = await source.open();
    }, START_MS);
    afterAll(async () => {
      if (engine !== undefined) await source.close(engine);
    }, END_MS);
    body(() => engine ?? unavailable());
  });
}

async function privateEngine(): Promise<Source<DockerLab>> {
  const available = await labAvailability();
  if (!available.ok) return available;
  return { ok: true, open: () => startLab(), close: (lab) => lab.dispose() };
}

/** An engine for what breaks nothing: this run's shared one, or else the operator's own if it answers. */
async function harmlessEngine(): Promise<Source<Engine>> {
  const available = await labAvailability();
  if (available.ok) return { ok: true, open: sharedLab, close: async () => {} };
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
  if (!host.startsWith('unix://'))
    return { ok: false, reason: `${available.reason}; DOCKER_HOST is no Unix socket` };
  const socket = host.slice('unix://'.length);
  const docker = new Docker({ socketPath: socket });
  try {
    await ping(docker);
  } catch (error) {
    return { ok: false, reason: `${available.reason}, and ${socket} does not answer (${error})` };
  }
  const engine = { socket, env: { DOCKER_HOST: host }, docker, noGlibcImage: () => importNoGlibc(docker) };
  return { ok: true, open: () => withBase(engine), close: async () => {} };
}

async function withBase(engine: Engine): Promise<Engine> {
  const { docker } = engine;
  const present = await docker.listImages({ filters: { reference: [BASE_IMAGE] } });
  if (present.length > 0) return engine;
  const progress = await docker.pull(BASE_IMAGE);
  await new Promise<void>((done, fail) => {
    docker.modem.followProgress(progress, (error) => (error ? fail(error) : done()));
  });
  return engine;
}

function unavailable(): never {
  throw new Error('The engine is there while tests and hooks run, not while they are declared.');
}
