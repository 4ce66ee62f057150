import { JackinError } from '@jackin/core';
import type { Manifest, Recipe } from '@jackin/instance';
import type Docker from 'dockerode';
import type { StartContext } from '../backend.ts';
import { isReservedDestination } from '../decide/reserved-destination.ts';
import { roleLabels } from './labels.ts';

/** Where things are inside a container (docs/storage.md). */
export const INSIDE = {
  home: '/home/agent',
  state: '/jackin/state',
  run: '/jackin/run',
  agentConfig: '/jackin/run/agent.toml',
  socket: '/jackin/run/capsule.sock',
  runtime: '/jackin/runtime',
  node: '/jackin/runtime/node',
  capsule: '/jackin/runtime/capsule.mjs',
} as const;

/** The engine keeps what the capsule says about itself; it says little. */
const LOG = { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } };

/**
 * What the engine is asked to create. Bind mounts are `Mounts`, whose missing source is an error; `Binds` would make a
 * directory that belongs to root. No secret, and nothing but HOME and the instance id, is in the environment.
 * @throws JackinError `MOUNT_CONFLICT` for a mount that would cover jackin's own
 */
export function containerConfig(input: {
  manifest: Manifest;
  recipe: Recipe;
  dirs: StartContext['dirs'];
  user: { uid: number; gid: number };
  names: { container: string; network: string };
  image: { id: string; tag: string };
  runtimeDir: string;
  mounts: StartContext['mounts'];
  env: StartContext['env'];
}): Docker.ContainerCreateOptions {
  const { manifest, recipe, names, image } = input;
  return {
    Image: image.id,
    Hostname: names.container,
    User: `${input.user.uid}:${input.user.gid}`,
    Env: [
      `HOME=${INSIDE.home}`,
      `JACKIN_INSTANCE=${manifest.instance_id}`,
      ...Object.entries(input.env).map(([name, value]) => `${name}=${value}`),
    ],
    Entrypoint: [INSIDE.node, INSIDE.capsule],
    Cmd: [
      ...['--config', INSIDE.agentConfig],
      ...['--state', INSIDE.state],
      ...['--socket', INSIDE.socket],
      '--announce',
    ],
    WorkingDir: recipe.workdir,
    Labels: roleLabels(manifest, image.tag),
    Tty: false,
    OpenStdin: false,
    HostConfig: {
      Init: true,
      Mounts: mountsOf(input),
      NetworkMode: names.network,
      RestartPolicy: { Name: 'no' },
      LogConfig: LOG,
      ...limitsOf(recipe),
    },
  };
}

function mountsOf({
  recipe,
  dirs,
  runtimeDir,
  mounts,
}: Pick<
  Parameters<typeof containerConfig>[0],
  'recipe' | 'dirs' | 'runtimeDir' | 'mounts'
>): Docker.MountConfig {
  for (const { dst } of recipe.mounts) {
    if (isReservedDestination(dst)) throw conflict(dst);
  }
  return [
    bind(dirs.home, INSIDE.home),
    bind(dirs.state, INSIDE.state),
    bind(dirs.sockets, INSIDE.run),
    bind(dirs.agent_config, INSIDE.agentConfig, true),
    bind(runtimeDir, INSIDE.runtime, true),
    ...mounts.map(({ source, target, readonly }) => bind(source, target, readonly)),
  ];
}

function bind(source: string, target: string, readOnly = false): Docker.MountSettings {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: readOnly };
}

function limitsOf(recipe: Recipe): Docker.HostConfig {
  const { memory_bytes: memory, cpus, pids } = recipe.run.limits;
  return {
    // With swap the limit would only move memory there.
    ...(memory ? { Memory: memory, MemorySwap: memory } : {}),
    ...(cpus ? { NanoCpus: Math.round(cpus * 1e9) } : {}),
    ...(pids ? { PidsLimit: pids } : {}),
  };
}

function conflict(dst: string): JackinError {
  return new JackinError({
    code: 'MOUNT_CONFLICT',
    message: `A mount cannot be at ${dst}: that place in the container is jackin's own or the engine's`,
    hint: 'Give the mount another destination, as in --mount SRC:DST.',
    details: { dst },
  });
}
