import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EventSink, type JackinPaths, systemClock } from '@jackin/core';
import type { Backend } from '@jackin/runtime';
import { lazyBackend } from './lazy-backend.ts';
import { pinnedNodes } from './pinned-node.ts';
import { bundled } from './version.ts';

/** The roles that come with jackin: beside the bundle, or in the package that has their sources. */
export const shippedRoles: string | undefined = bundled
  ? fileURLToPath(new URL('./roles', import.meta.url))
  : undefined;

export interface DockerBackendOptions {
  paths: JackinPaths;
  env: NodeJS.ProcessEnv;
  events: EventSink;
}

/** The real container backend; its client is loaded when it is first used. */
export function dockerBackend({ paths, env, events }: DockerBackendOptions): Backend {
  return lazyBackend('docker', async () => {
    const docker = await import('@jackin/runtime/docker');
    const home = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
    return docker.createDockerBackend({
      paths,
      env,
      events,
      clock: systemClock,
      images: docker.createImages({ paths, events, clock: systemClock, home, shippedRoles }),
      runtime: async (arch, signal) =>
        docker.containerRuntime({
          capsuleBundle: capsuleBundle(),
          nodeBinary: await docker.containerNode({
            self: process,
            arch,
            pinned: pinnedNodes(),
            cacheDir: paths.cacheDir,
            signal,
          }),
          ptyPackageDir: ptyPackageDir(arch),
          runtimeRoot: paths.runtimeDir,
        }),
    });
  });
}

/** One file, as a container gets it. Sources that run directly take the bundle that was built last. */
function capsuleBundle(): string {
  return fileURLToPath(new URL(bundled ? './capsule.mjs' : '../dist/bundle/capsule.mjs', import.meta.url));
}

/** The prebuilt terminal of a Linux container. */
function ptyPackageDir(arch: string): string {
  const name = `@lydell/node-pty-linux-${arch}`;
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}
