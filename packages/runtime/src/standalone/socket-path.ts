import { lstatSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { ensurePrivateDir } from '@jackin/core';

/** Longest path a Unix socket can be connected at (docs/storage.md). */
export const SOCKET_PATH_MAX_BYTES = 103;
const SOCKET_NAME = 'capsule.sock';

export interface SocketChoice {
  path: string;
  /** The directories to make for it, outermost first; null: the instance's own socket directory. */
  short: { root: string; dir: string } | null;
}

/**
 * Where the capsule of an instance listens: its socket directory, or, where that path is too long to be connected, a
 * short private runtime directory.
 */
export function chooseSocket(preferred: string, instanceId: string, env: NodeJS.ProcessEnv): SocketChoice {
  if (fits(preferred)) return { path: preferred, short: null };
  const choices = shortRoots(env).map((root) => {
    const dir = join(root, instanceId);
    return { path: join(dir, SOCKET_NAME), short: { root, dir } };
  });
  return choices.find(({ path }) => fits(path)) ?? lastResort(instanceId);
}

/**
 * The short directories an instance may have: the one chosen now, and the recorded one when this backend could have
 * chosen it in another environment. A recorded path of any other form is no permission to remove something.
 */
export function shortDirsOf(
  choice: SocketChoice,
  recorded: string | undefined,
  instanceId: string,
): { root: string; dir: string }[] {
  const dirs = choice.short === null ? [] : [choice.short];
  if (recorded === undefined || recorded === choice.path) return dirs;
  const dir = dirname(recorded);
  const root = dirname(dir);
  const ours = basename(dir) === instanceId && ['jackin', `jackin-${expectedUid()}`].includes(basename(root));
  return ours && isAbsolute(root) ? [...dirs, { root, dir }] : dirs;
}

/** Makes the short directory, 0700 and ours on every level we make. Refuses a link or a foreign owner. */
export async function prepareSocketDir(choice: SocketChoice): Promise<void> {
  if (choice.short === null) {
    await ensurePrivateDir(dirname(choice.path));
    return;
  }
  await ensurePrivateDir(choice.short.root);
  await ensurePrivateDir(choice.short.dir);
}

/** The user whose processes and sockets are ours. */
export function expectedUid(): number {
  return process.getuid?.() ?? 0;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES;
}

function shortRoots(env: NodeJS.ProcessEnv): string[] {
  const runtimeDir = env.XDG_RUNTIME_DIR;
  const login = runtimeDir !== undefined && usableRuntimeDir(runtimeDir) ? [join(runtimeDir, 'jackin')] : [];
  return [...login, join(env.TMPDIR || '/tmp', `jackin-${expectedUid()}`)];
}

function lastResort(instanceId: string): SocketChoice {
  const root = `/tmp/jackin-${expectedUid()}`;
  const dir = join(root, instanceId);
  return { path: join(dir, SOCKET_NAME), short: { root, dir } };
}

/** The login session's own directory, as its specification asks: a real directory that belongs to us. */
function usableRuntimeDir(path: string): boolean {
  try {
    const found = lstatSync(path);
    return path.startsWith('/') && found.isDirectory() && found.uid === expectedUid();
  } catch {
    return false;
  }
}
