import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { containerRuntime } from '../../../src/docker/container-runtime.ts';
import { bundled } from '../../execute/support/bundled.ts';

const MODULES = fileURLToPath(new URL('../../../../../node_modules/', import.meta.url));
const PLATFORM = `linux-${process.arch}`;
let made: Promise<{ dir: string; digest: string }> | undefined;

/** The runtime a container mounts, made once per process from the sources and kept between runs by its content. */
export function testRuntime(): Promise<{ dir: string; digest: string }> {
  made ??= build();
  return made;
}

async function build(): Promise<{ dir: string; digest: string }> {
  const { args } = await bundled(new URL('../../../../capsule/src/main.ts', import.meta.url));
  return containerRuntime({
    capsuleBundle: args[0] as string,
    nodeBinary: realpathSync(join(MODULES, `node-${PLATFORM}`, 'bin/node')),
    ptyPackageDir: dirname(realpathSync(join(MODULES, `@lydell/node-pty-${PLATFORM}`, 'package.json'))),
    runtimeRoot: join(MODULES, '.cache/jackin-test/runtime'),
  });
}
