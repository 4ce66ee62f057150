import { realpath, stat } from 'node:fs/promises';
import { type MountSpec, parseMount, type Target } from '@jackin/config';
import { fileSystemError, JackinError } from '@jackin/core';
import { isReservedDestination } from '../decide/reserved-destination.ts';
import { knownEngineSockets } from '../docker/known-sockets.ts';
import type { LoadRequest } from './api.ts';
import { decisionNeeded } from './guards.ts';
import { homeOf } from './home.ts';
import { mountRisks } from './risky-mounts.ts';
import type { World } from './world.ts';

/**
 * The mounts of a launch: those configured, then those of `--mount`.
 * @throws JackinError MOUNT_INVALID, MOUNT_SOURCE_MISSING, MOUNT_CONFLICT, DECISION_NEEDED for what {@link mountRisks}
 *   finds and nobody can confirm, MOUNT_DECLINED
 */
export async function launchMounts(
  world: World,
  target: Pick<Target, 'mounts'>,
  request: Pick<LoadRequest, 'mounts' | 'mountIsolation' | 'force'>,
): Promise<MountSpec[]> {
  const base = { cwd: world.cwd, home: homeOf(world) };
  const extra: MountSpec[] = [];
  for (const text of request.mounts) {
    const typed = parseMount(text, base);
    await requireSource(typed.src);
    // What is judged is what is mounted, wherever a link leads by then.
    extra.push({ ...typed, src: await realpath(typed.src) });
  }
  const mounts = withIsolation([...target.mounts, ...extra], request.mountIsolation);
  refuseDoubles(mounts);
  refuseNested(mounts);
  await confirmRisks(world, mounts, request.force);
  return mounts;
}

/** What a process on this machine cannot be kept to: it sees every file where it is, and may write it. */
export function standaloneMountNotices(mounts: readonly MountSpec[]): string[] {
  return mounts
    .filter(({ isolation }) => isolation === 'shared')
    .flatMap(({ src, dst, readonly }) => [
      ...(readonly ? [`standalone does not enforce read-only: the agent can write ${src}`] : []),
      ...(dst === src ? [] : [`standalone does not mount: the agent finds ${src} there and not at ${dst}`]),
    ]);
}

function withIsolation(mounts: MountSpec[], settings: readonly string[]): MountSpec[] {
  const kinds = new Map(settings.map((text) => parseIsolation(text)));
  for (const dst of kinds.keys()) {
    if (mounts.some((mount) => mount.dst === dst)) continue;
    throw new JackinError({
      code: 'MOUNT_INVALID',
      message: `--mount-isolation names ${dst}, and nothing is mounted there`,
      hint: `Mounted: ${mounts.map((mount) => mount.dst).join(', ')}`,
      exitCode: 2,
    });
  }
  return mounts.map((mount) => ({ ...mount, isolation: kinds.get(mount.dst) ?? mount.isolation }));
}

/** `DST=KIND` as it is typed. @throws JackinError MOUNT_INVALID */
export function parseIsolation(text: string): [string, MountSpec['isolation']] {
  const found = /^(.+)=(shared|worktree|clone)$/.exec(text);
  if (found?.[1] !== undefined) return [found[1], found[2] as MountSpec['isolation']];
  throw new JackinError({
    code: 'MOUNT_INVALID',
    message: `${JSON.stringify(text)} is not DST=KIND`,
    hint: 'KIND is shared, worktree or clone, for example --mount-isolation /workspace/app=shared',
    exitCode: 2,
  });
}

/** A tree in a tree would be somebody else's files in a repository. */
function refuseNested(mounts: readonly MountSpec[]): void {
  const isolated = mounts.filter(({ isolation }) => isolation !== 'shared');
  for (const outer of isolated) {
    const inner = isolated.find(({ dst }) => dst.startsWith(`${outer.dst.replace(/\/$/, '')}/`));
    if (inner === undefined) continue;
    throw new JackinError({
      code: 'MOUNT_CONFLICT',
      message: `The isolated mounts ${outer.dst} and ${inner.dst} lie inside each other`,
      hint: `Give one of them a destination outside of the other, or share it: --mount-isolation ${inner.dst}=shared`,
      details: { mounts: [outer.dst, inner.dst] },
      exitCode: 2,
    });
  }
}

/** @throws JackinError MOUNT_CONFLICT */
export function refuseReserved(mounts: readonly MountSpec[]): void {
  const reserved = mounts.find(({ dst }) => isReservedDestination(dst));
  if (reserved === undefined) return;
  throw new JackinError({
    code: 'MOUNT_CONFLICT',
    message: `A mount cannot be at ${reserved.dst}: that place in the container is jackin's own or the engine's`,
    hint: 'Give it another destination: --mount SRC:DST',
    details: { dst: reserved.dst },
    exitCode: 2,
  });
}

function refuseDoubles(mounts: readonly MountSpec[]): void {
  const twice = mounts.find(({ dst }, at) => mounts.findIndex((other) => other.dst === dst) !== at);
  if (twice === undefined) return;
  throw new JackinError({
    code: 'MOUNT_CONFLICT',
    message: `Two mounts have the destination ${twice.dst}`,
    hint: 'Give one of them another destination: --mount SRC:DST',
    exitCode: 2,
  });
}

async function requireSource(src: string): Promise<void> {
  try {
    await stat(src);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw fileSystemError(error, src, 'read');
    throw new JackinError({
      code: 'MOUNT_SOURCE_MISSING',
      message: `${src} does not exist, so it cannot be mounted`,
      hint: `Make it first: mkdir -p '${src}'`,
    });
  }
}

/** Those an engine usually has, besides the one this command talks to. */
function engineSockets(world: World): string[] {
  const { env } = world;
  const host = env.DOCKER_HOST?.startsWith('unix://') ? [env.DOCKER_HOST.slice('unix://'.length)] : [];
  const known = knownEngineSockets(env, homeOf(world)).map(({ path }) => path);
  return [...host, ...known, '/run/containerd/containerd.sock'];
}

async function confirmRisks(world: World, mounts: readonly MountSpec[], force: boolean): Promise<void> {
  if (force) return;
  const options = { paths: world.paths, home: homeOf(world), engineSockets: engineSockets(world) };
  const risks = await Promise.all(
    mounts.map(async (mount) => ({ mount, risks: await mountRisks(mount, options) })),
  );
  const risky = risks.filter((one) => one.risks.length > 0);
  if (risky.length === 0) return;
  const warnings = risky.flatMap((one) => one.risks);
  if (!world.prompts.available) {
    throw decisionNeeded(
      `${warnings.join(' ').replace(/\.$/, '')}, and nobody can be asked`,
      'Agree to it with --force, or mount another directory',
      { mounts: risky.map(({ mount }) => mount.src), risks: warnings },
    );
  }
  if (await world.prompts.confirm({ title: 'share this with the agent', removes: [], warnings })) return;
  throw new JackinError({
    code: 'MOUNT_DECLINED',
    message: 'Nothing was started',
    hint: 'Leave the mount out, or choose another source.',
  });
}
