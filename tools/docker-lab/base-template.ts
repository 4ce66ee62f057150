import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type Docker from 'dockerode';
import { baseName, cacheDir } from './base-image.ts';
import type { LabRecord } from './claims.ts';
import { startEngine, stopEngine } from './engine.ts';
import { attempt, find, run } from './machine.ts';
import { removeAll } from './residue.ts';

/** The part of a data root that holds images, and no identity of an engine. */
const IMAGE_DIRS = ['image', 'overlay2'];
const COPY_MS = 120_000;

/** Gives an engine that was never started the base image as a former one kept it: a copy is faster than an import. */
export async function copyTemplate({ dir }: LabRecord): Promise<void> {
  const template = await templateDir();
  if (!existsSync(template)) return;
  const data = join(dir, 'data');
  await mkdir(data, { mode: 0o711 });
  for (const part of IMAGE_DIRS) {
    // A layer's files are never written to again, so engines can share them; the records next to them are.
    if (part === 'overlay2' && (await link(join(template, part), data))) continue;
    await copy(join(template, part), data);
  }
}

/** Keeps the images of a running engine that has the base image and nothing else, for the engines after it. */
export async function keepTemplate(record: LabRecord, docker: Docker): Promise<void> {
  const template = await templateDir();
  if (existsSync(template) || (await docker.info()).Driver !== 'overlay2') return;
  const data = join(record.dir, 'data');
  // Engines with another image store do without.
  if (!IMAGE_DIRS.every((part) => existsSync(join(data, part)))) return;
  await stopEngine(record);
  const scratch = await mkdtemp(join(await cacheDir(), 'build-'));
  try {
    const made = join(scratch, 'template');
    await mkdir(made, { mode: 0o700 });
    for (const part of IMAGE_DIRS) await copy(join(data, part), made);
    await rename(made, template);
  } catch (error) {
    // Another lab was faster.
    if (!existsSync(template)) throw error;
  } finally {
    await removeAll(scratch);
  }
  await startEngine(record);
}

/** One per recipe and engine version: what is in there is the engine's own format. */
async function templateDir(): Promise<string> {
  const { stdout } = await run(find('dockerd') ?? 'dockerd', ['--version'], { timeoutMs: COPY_MS });
  const version = /version ([^\s,]+)/.exec(stdout.toString())?.[1] ?? 'unknown';
  return join(await cacheDir(), `${baseName()}-engine-${version}`);
}

async function copy(from: string, into: string): Promise<void> {
  await run('cp', ['-a', '--reflink=auto', from, into], { timeoutMs: COPY_MS });
}

/** False when the data root lies on another file system. */
async function link(from: string, into: string): Promise<boolean> {
  const linked = await attempt('cp', ['-al', from, into], { timeoutMs: COPY_MS });
  if (linked.exitCode !== 0) await removeAll(join(into, basename(from)));
  return linked.exitCode === 0;
}
