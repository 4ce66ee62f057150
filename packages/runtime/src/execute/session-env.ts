import { access, constants, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import type { Backend } from '../backend.ts';
import { hostEnvironment } from '../standalone/host-env.ts';

/** Where HOME is inside a container. */
const CONTAINER_HOME = '/home/agent';

/**
 * The environment of one agent session. Standalone sessions get a short list of the host's names (PATH, locale,
 * proxies) and HOME inside the instance; containers bring their own. Resolved references win over inherited names,
 * our own names over everything.
 */
export function sessionEnvironment(input: {
  backend: Backend['kind'];
  instanceId: string;
  home: string;
  hostEnv: NodeJS.ProcessEnv;
  resolved: Record<string, string>;
  /** Git's settings for the trees of the instance. */
  trees?: Readonly<Record<string, string>>;
}): Record<string, string> {
  const standalone = input.backend === 'standalone';
  return {
    ...(standalone ? hostEnvironment(input.hostEnv) : {}),
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    ...input.resolved,
    ...input.trees,
    HOME: standalone ? input.home : CONTAINER_HOME,
    JACKIN_INSTANCE: input.instanceId,
  };
}

/** The file that would be executed for `program`, as the kernel and a shell look it up; null when there is none. */
export async function findProgram(
  program: string,
  cwd: string,
  path: string | undefined,
): Promise<string | null> {
  if (program === '') return null;
  const candidates = program.includes('/')
    ? [resolve(cwd, program)]
    : (path ?? '').split(delimiter).map((dir) => resolve(cwd, dir === '' ? '.' : dir, program));
  for (const candidate of candidates) {
    if (await isExecutableFile(candidate)) return candidate;
  }
  return null;
}

async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
