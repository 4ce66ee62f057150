import { cp, lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, type JackinEvent, type JackinPaths, resolvePaths, systemClock } from '@jackin/core';
import {
  baseName,
  createInstanceStore,
  derivedNames,
  type InstanceStore,
  type Manifest,
  workdirFingerprint,
} from '@jackin/instance';

export const SAMPLE_BASE = 'jk-k7p9m2xq-proj-thearchitect';
const SAMPLE_DIR = fileURLToPath(new URL('../../../fixtures/rust-state', import.meta.url));
export const NOW = '2026-08-01T10:00:00.000Z';

export interface TestStore extends AsyncDisposable {
  paths: JackinPaths;
  store: InstanceStore;
  events: JackinEvent[];
  clock: Clock & { set(text: string): void };
}

/** A store over a fresh home, or over the sample state, or over a directory that the test prepared. */
export async function makeStore(options: { sample?: boolean; home?: string } = {}): Promise<TestStore> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'jackin-instance-')));
  const paths = resolvePaths({ HOME: home, JACKIN_HOME_DIR: join(home, 'state') });
  if (options.sample === true) await cp(join(SAMPLE_DIR, 'data'), paths.dataDir, { recursive: true });
  const events: JackinEvent[] = [];
  let now = NOW;
  const clock = {
    ...systemClock,
    now: () => new Date(now),
    set: (text: string) => {
      now = text;
    },
  };
  const store = createInstanceStore({ paths, clock, events: (event) => events.push(event) });
  return {
    paths,
    store,
    events,
    clock,
    async [Symbol.asyncDispose]() {
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}

export function makeManifest(id: string, change: Partial<Manifest> = {}): Manifest {
  const base = baseName({ instanceId: id, workspace: null, role: 'shell' });
  const names = derivedNames(base);
  return {
    version: 2,
    instance_id: id,
    container_base: base,
    created_at: '2026-07-30T08:00:00.000Z',
    updated_at: '2026-07-30T08:00:00.000Z',
    workspace_name: null,
    workspace_label: '/src/p',
    workdir: '/src/p',
    host_workdir_fingerprint: workdirFingerprint('/src/p'),
    role_key: 'shell',
    role_display_name: 'Shell',
    agent_runtime: 'shell',
    image_tag: 'standalone',
    status: 'active',
    docker: { role_container: names.container, network: names.network },
    sessions: [],
    supported_agents: ['shell'],
    ...change,
  };
}

/** Every entry below a directory with its content: equal before and after means nothing was written. */
export async function snapshot(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true }).catch(() => []);
  const pairs = entries.sort().map(async (name): Promise<[string, string]> => {
    const path = join(directory, name);
    const stats = await lstat(path);
    const what = `${stats.mode.toString(8)} ${stats.mtimeMs}`;
    if (stats.isSymbolicLink()) return [name, `${what} -> ${await readlink(path)}`];
    return [name, stats.isFile() ? `${what} ${await readFile(path, 'latin1')}` : what];
  });
  return Object.fromEntries(await Promise.all(pairs));
}

export async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path, 'utf8'));
}

export function noticeCodes(events: JackinEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'notice' ? [event.code] : []));
}
