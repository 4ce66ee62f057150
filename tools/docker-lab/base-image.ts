import { createReadStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, symlink } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { alone, stateDir } from './alone.ts';
import { attempt, find, provide, run } from './machine.ts';
import { removeAll, unmountBelow } from './residue.ts';

/** The image every role builds on, made of Debian packages because there is no registry to pull it from. */
export const BASE_IMAGE = 'debian:bookworm-slim';
/** An image that no program linked against glibc runs in. */
export const NO_GLIBC_IMAGE = 'jackin-lab/noglibc:latest';

const SUITE = 'bookworm';
const INCLUDED = ['git', 'ca-certificates', 'bash', 'procps', 'libstdc++6'];
/** Part of the cached file's name: another recipe is another file. */
const RECIPE = 2;
const BOOTSTRAP_MS = 600_000;
const PACK_MS = 120_000;
const LEFT_OUT = [
  './var/cache/apt/archives/*.deb',
  './var/lib/apt/lists/*',
  './usr/share/doc/*',
  './usr/share/man/*',
  './usr/share/locale/*',
];

/** Builds the base image's files unless they are cached; the path of the tar. */
export async function baseTar(): Promise<string> {
  const tar = join(await cacheDir(), `${baseName()}.tar`);
  if (existsSync(tar)) return tar;
  await provide(['debootstrap']);
  await alone('base-image', async () => {
    if (!existsSync(tar)) await buildBase(tar);
  });
  return tar;
}

/** Whether the base image can be made without debootstrap. */
export async function baseIsCached(): Promise<boolean> {
  return existsSync(join(await cacheDir(), `${baseName()}.tar`));
}

/** What everything cached of the base image is called. */
export function baseName(): string {
  return `debian-${SUITE}-slim-${RECIPE}-${arch()}`;
}

/** Gives the engine the base image, unless it has it. */
export async function importBase(docker: Docker, tar: string): Promise<void> {
  await importOnce(docker, BASE_IMAGE, () => createReadStream(tar), ['CMD ["bash"]']);
}

/** Gives the engine the image without glibc: one static busybox. */
export async function importNoGlibc(docker: Docker): Promise<string> {
  await provide(['busybox']);
  const busybox = find('busybox') ?? '';
  // ldd fails for a program that needs no library.
  const linked = await attempt('ldd', [busybox], { timeoutMs: PACK_MS });
  if (linked.exitCode === 0) throw new Error(`${busybox} is not static; install busybox-static.`);
  const scratch = await mkdtemp(join(await cacheDir(), 'build-'));
  try {
    await mkdir(join(scratch, 'root/bin'), { recursive: true });
    for (const dir of ['tmp', 'etc']) await mkdir(join(scratch, 'root', dir));
    await run('cp', [busybox, join(scratch, 'root/bin/busybox')], { timeoutMs: PACK_MS });
    for (const applet of ['sh', 'sleep', 'cat', 'ls', 'true']) {
      await symlink('busybox', join(scratch, 'root/bin', applet));
    }
    const packed = join(scratch, 'tiny.tar');
    await run('tar', ['-C', join(scratch, 'root'), '-cf', packed, '.'], { timeoutMs: PACK_MS });
    await importOnce(docker, NO_GLIBC_IMAGE, () => createReadStream(packed), ['CMD ["/bin/sh"]']);
  } finally {
    await removeAll(scratch);
  }
  return NO_GLIBC_IMAGE;
}

async function buildBase(tar: string): Promise<void> {
  const scratch = await mkdtemp(join(await cacheDir(), 'build-'));
  try {
    const root = join(scratch, 'root');
    const args = ['--variant=minbase', `--include=${INCLUDED.join(',')}`, SUITE, root];
    await run('debootstrap', args, { timeoutMs: BOOTSTRAP_MS });
    const packed = join(scratch, 'base.tar');
    const leftOut = LEFT_OUT.map((pattern) => `--exclude=${pattern}`);
    await run('tar', ['-C', root, ...leftOut, '-cf', packed, '.'], { timeoutMs: PACK_MS });
    await rename(packed, tar);
  } finally {
    // debootstrap mounts /proc and /sys in there, and leaves them when it is interrupted.
    await unmountBelow(scratch);
    await removeAll(scratch);
  }
}

async function importOnce(
  docker: Docker,
  tag: string,
  open: () => Readable,
  changes: string[],
): Promise<void> {
  const present = await docker.listImages({ filters: { reference: [tag] } });
  if (present.length > 0) return;
  const [repo, version] = tag.split(':');
  const answer = await docker.importImage(open(), { repo, tag: version, changes });
  await new Promise<void>((done, fail) => {
    docker.modem.followProgress(answer, (error) => (error ? fail(error) : done()));
  });
}

/** The directory of what survives runs: `JACKIN_LAB_CACHE`, or one for this user. */
export async function cacheDir(): Promise<string> {
  const dir = process.env.JACKIN_LAB_CACHE || (await stateDir());
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return dir;
}
