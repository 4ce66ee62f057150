import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ensurePrivateDir,
  type InstancePaths,
  type JackinEvent,
  type JackinPaths,
  newInstanceId,
  resolvePaths,
  systemClock,
} from '@jackin/core';
import { createInstanceStore, type Manifest, type Recipe } from '@jackin/instance';
import type Docker from 'dockerode';
import type { Backend, InstanceRef, StartContext } from '../../../src/backend.ts';
import { createDockerBackend } from '../../../src/docker/adapter.ts';
import type { DockerOptions } from '../../../src/docker/options.ts';
import type { ImagePort } from '../../../src/docker/ports.ts';
import { writeAgentConfig } from '../../../src/observe/agent-config-file.ts';
import { createCapsuleAccess } from '../../../src/observe/capsule-access.ts';
import { testRuntime } from './runtime.ts';

export const BASE_IMAGE = 'debian:bookworm-slim';
const OWNER = { uid: 1000, gid: 1000 };
const SIGNAL_MS = 60_000;
const SHARED_CACHE = fileURLToPath(
  new URL('../../../../../node_modules/.cache/jackin-test/cache', import.meta.url),
);

export interface Subject {
  root: string;
  workdir: string;
  paths: JackinPaths;
  place: InstancePaths;
  id: string;
  base: string;
  recipe: Recipe;
  manifest: Manifest;
  backend: Backend;
  events: JackinEvent[];
  options: DockerOptions;
  ref(): InstanceRef;
  context(signal?: AbortSignal, recipe?: Recipe): StartContext;
  /** What the executor prepares before `create`. */
  prepare(): Promise<void>;
  /** Prepared, created and started. */
  launch(): Promise<void>;
  record(started: Awaited<ReturnType<Backend['start']>>): void;
  connect(): ReturnType<ReturnType<typeof createCapsuleAccess>['connect']>;
  /** Removes everything of it from engine and disk, by force. */
  dispose(): Promise<void>;
}

export interface SubjectOptions {
  docker: Docker;
  env: NodeJS.ProcessEnv;
  images?: ImagePort;
  recipe?: (recipe: Recipe) => Recipe;
  /** Directory names that make the paths long. */
  depth?: string;
  runtime?: DockerOptions['runtime'];
  readyMs?: number;
  /** A cache directory that nobody filled. */
  ownCache?: boolean;
}

export const freshSignal = (): AbortSignal => AbortSignal.timeout(SIGNAL_MS);

/** Names the base image, as if it had been built for the role. */
export function labImages(docker: Docker, reference = BASE_IMAGE): ImagePort {
  return {
    async ensure() {
      const { Id } = await docker.getImage(reference).inspect();
      return { image_id: Id, image_tag: reference, built: false };
    },
  };
}

/** An instance of its own on an engine, with the real capsule, that has not been created yet. */
export async function newSubject(options: SubjectOptions): Promise<Subject> {
  const { docker, env } = options;
  const root = await realpath(await mkdtemp(join(tmpdir(), 'jk-dk-')));
  const workdir = join(root, 'project');
  await mkdir(workdir);
  await chown(workdir, OWNER.uid, OWNER.gid);
  const own = resolvePaths({ HOME: root, JACKIN_HOME_DIR: join(root, options.depth ?? '', 'h') });
  // That an image can run the capsule is found out once for all subjects, unless a test is about it.
  const paths = { ...own, cacheDir: options.ownCache ? own.cacheDir : SHARED_CACHE };
  const id = newInstanceId();
  const base = `jk-${id}-shell`;
  const place = paths.instance(base);
  const change = options.recipe ?? ((recipe) => recipe);
  const recipe = change(recipeOf(workdir));
  let manifest = manifestOf(id, base, workdir, recipe);
  const events: JackinEvent[] = [];
  const backendOptions: DockerOptions = {
    paths,
    env: { HOME: root, ...env },
    clock: systemClock,
    events: (event) => void events.push(event),
    images: options.images ?? labImages(docker),
    runtime: options.runtime ?? testRuntime,
    ...(options.readyMs === undefined ? {} : { readyMs: options.readyMs }),
  };
  const backend = createDockerBackend(backendOptions);
  const store = createInstanceStore({ paths, events: backendOptions.events, clock: systemClock });
  const subject: Subject = {
    root,
    workdir,
    paths,
    place,
    id,
    base,
    recipe,
    get manifest() {
      return manifest;
    },
    set manifest(next) {
      manifest = next;
    },
    backend,
    events,
    options: backendOptions,
    ref: () => ({ instance_id: id, container_base: base, manifest }),
    context: (signal = freshSignal(), from = recipe) => ({
      ref: subject.ref(),
      recipe: from,
      dirs: {
        data: place.dir,
        home: place.home,
        state: place.state,
        sockets: place.sockets,
        agent_config: place.agentConfig,
      },
      mounts: from.mounts.map(({ src, dst, readonly }) => ({ source: src, target: dst, readonly })),
      env: {},
      signal,
    }),
    async prepare() {
      await store.create(manifest);
      await ensurePrivateDir(place.sockets, OWNER);
      const config = {
        instance_id: id,
        role: 'shell',
        workdir,
        agents: ['shell'],
        capsule_key: randomBytes(32).toString('hex'),
      };
      await writeAgentConfig(paths, base, config, OWNER);
    },
    async launch() {
      await subject.prepare();
      const { image_id: imageId } = await backend.create(subject.context());
      if (imageId !== null) manifest = { ...manifest, image_id: imageId };
      subject.record(await backend.start(subject.context()));
    },
    record({ engine }) {
      if (engine.state !== 'reachable') throw new Error(engine.reason);
      manifest = { ...manifest, engine: { endpoint: engine.endpoint, id: engine.id, run: engine.run } };
    },
    connect: () =>
      createCapsuleAccess({ paths, clientName: 'docker-test' }).connect(
        subject.ref(),
        backend.capsule(subject.ref()),
        freshSignal(),
      ),
    async dispose() {
      await removeByForce(docker, id, base);
      await rm(root, { recursive: true, force: true });
    },
  };
  return subject;
}

async function removeByForce(docker: Docker, id: string, base: string): Promise<void> {
  const containers = await docker.listContainers({ all: true });
  for (const { Id, Names, Labels } of containers) {
    if (Labels['jackin.instance'] !== id && !Names.includes(`/${base}`)) continue;
    await docker.getContainer(Id).remove({ force: true, v: true });
  }
  for (const { Id, Name } of await docker.listNetworks()) {
    if (Name === `${base}-net`) await docker.getNetwork(Id).remove();
  }
  for (const { RepoTags } of await docker.listImages()) {
    for (const tag of RepoTags ?? []) if (tag === `jk-keep:${id}`) await docker.getImage(tag).remove();
  }
}

function recipeOf(workdir: string): Recipe {
  return {
    version: 1,
    backend: 'docker',
    image_tag: BASE_IMAGE,
    role: { source: 'builtin:shell' },
    mounts: [{ src: workdir, dst: workdir, isolation: 'shared', readonly: false }],
    env: [],
    auth_modes: {},
    run: { limits: {}, user: `${OWNER.uid}:${OWNER.gid}` },
    agent: { id: 'shell', argv: ['/bin/bash'] },
    workdir,
  };
}

function manifestOf(id: string, base: string, workdir: string, recipe: Recipe): Manifest {
  const now = new Date().toISOString();
  return {
    version: 2,
    instance_id: id,
    container_base: base,
    created_at: now,
    updated_at: now,
    workspace_name: null,
    workspace_label: 'project',
    workdir,
    host_workdir_fingerprint: 'sha256:0',
    role_key: 'shell',
    role_display_name: 'shell',
    agent_runtime: 'shell',
    image_tag: BASE_IMAGE,
    status: 'active',
    docker: { role_container: base, network: `${base}-net` },
    sessions: [],
    supported_agents: ['shell'],
    recipe,
  };
}
