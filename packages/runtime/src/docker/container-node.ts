import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensurePrivateDir, JackinError, readFileBounded, removeTree, runProcess } from '@jackin/core';
import { neededLibraries } from './elf-needed.ts';

/** What every image with glibc and libstdc++ has; `libatomic` comes with libstdc++ where it is needed. */
const IN_EVERY_IMAGE = /^(lib(dl|m|c|pthread|rt|stdc\+\+|gcc_s|atomic)\.so\.\d+|ld-linux[\w-]*\.so\.\d+)$/;
const PACK_MS = 5 * 60_000;
const UNPACK_MS = 60_000;
const MAX_TARBALL_BYTES = 200 * 1024 * 1024;

/** A Node binary as an npm package, with the bytes it must have. */
export interface PinnedNode {
  name: string;
  version: string;
  /** Subresource integrity, `sha512-…`. */
  integrity: string;
}

export interface ContainerNodeOptions {
  /** This process, as far as it decides whether its own binary serves. */
  self: { platform: string; arch: string; execPath: string };
  /** The engine's architecture in Node's words. */
  arch: string;
  pinned: Readonly<Record<string, PinnedNode>>;
  cacheDir: string;
  signal?: AbortSignal;
}

/**
 * The Node binary that containers run the capsule with (docs/architecture.md#capsule): our own when it is for the
 * engine's architecture and needs no library an image may lack, else the pinned package, fetched once through npm's
 * configured registry and checked.
 * @throws JackinError RUNTIME_NODE_UNAVAILABLE
 */
export async function containerNode(options: ContainerNodeOptions): Promise<string> {
  const { self, arch } = options;
  if (self.platform === 'linux' && self.arch === arch && (await isSelfContained(self.execPath))) {
    return self.execPath;
  }
  const pinned = options.pinned[arch];
  if (pinned === undefined) throw unavailable(arch, 'no package of it is known');
  const dir = join(options.cacheDir, `${pinned.name}-${pinned.version}`);
  const binary = join(dir, 'bin/node');
  if (await isFile(binary)) return binary;
  await fetchPackage(pinned, dir, options);
  return binary;
}

/** Whether a program runs in any image that has glibc and libstdc++. */
export async function isSelfContained(path: string): Promise<boolean> {
  const needed = await neededLibraries(path);
  return needed !== null && needed.length > 0 && needed.every((name) => IN_EVERY_IMAGE.test(name));
}

/** Appears whole or not at all: unpacked beside it, then moved. */
async function fetchPackage(
  pinned: PinnedNode,
  dir: string,
  { arch, cacheDir, signal }: ContainerNodeOptions,
): Promise<void> {
  const spec = `${pinned.name}@${pinned.version}`;
  await ensurePrivateDir(cacheDir);
  const work = join(cacheDir, `.node.${process.pid}.${randomBytes(4).toString('hex')}`);
  await ensurePrivateDir(work);
  try {
    const packed = await run(
      'npm',
      ['pack', spec, '--silent', '--pack-destination', work],
      work,
      PACK_MS,
      signal,
    );
    if (packed !== null) throw unavailable(arch, `npm pack ${spec}: ${packed}`);
    const [tarball] = (await readdir(work)).filter((name) => name.endsWith('.tgz'));
    if (tarball === undefined) throw unavailable(arch, `npm pack ${spec} made no file`);
    const bytes = await readFileBounded(join(work, tarball), { maxBytes: MAX_TARBALL_BYTES });
    checkIntegrity(pinned, bytes ?? Buffer.alloc(0), arch);
    const target = join(work, 'package');
    await mkdir(target);
    const args = ['-xzf', tarball, '-C', target, '--strip-components=1', '--no-same-owner'];
    const unpacked = await run('tar', args, work, UNPACK_MS, signal);
    if (unpacked !== null) throw unavailable(arch, `tar: ${unpacked}`);
    await mkdir(dirname(dir), { recursive: true });
    // Somebody else may have put theirs there meanwhile: as good as ours.
    await rename(target, dir).catch(async (error: unknown) => {
      if (!(await isFile(join(dir, 'bin/node')))) throw error;
    });
  } finally {
    await removeTree(work, { inside: cacheDir });
  }
}

/** Null when it went well, else why not. */
async function run(
  file: string,
  args: string[],
  cwd: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const result = await runProcess(file, args, {
    cwd,
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  if (result.exitCode === 0) return null;
  if (result.notFound) return `${file} was not found`;
  if (result.timedOut) return `it did not end within ${timeoutMs / 1000} s`;
  const lines = result.stderr.toString('utf8').trim().split('\n');
  return lines.at(-1) || `it ended with ${result.signal ?? `code ${result.exitCode}`}`;
}

function checkIntegrity({ name, version, integrity }: PinnedNode, bytes: Buffer, arch: string): void {
  const algorithm = integrity.slice(0, integrity.indexOf('-'));
  const actual = `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;
  if (actual === integrity) return;
  throw unavailable(arch, `${name}@${version} has integrity ${actual} instead of ${integrity}`);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

function unavailable(arch: string, reason: string): JackinError {
  return new JackinError({
    code: 'RUNTIME_NODE_UNAVAILABLE',
    message: `There is no Node for containers (linux-${arch}): ${reason}`,
    hint: 'Run jackin with a Node from nodejs.org, which containers can use, or make the npm registry reachable.',
    details: { arch, reason },
  });
}
