import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, run } from './machine.ts';

const UNMOUNT_MS = 30_000;
const REMOVE_MS = 120_000;

/** Unmounts everything mounted below `dir`, the last first. @throws Error when something stays. */
export async function unmountBelow(dir: string): Promise<void> {
  const mounted = await mountsBelow(dir);
  if (mounted.length === 0) return;
  await attempt('umount', mounted, { timeoutMs: UNMOUNT_MS });
  const stuck = await mountsBelow(dir);
  if (stuck.length > 0) await run('umount', ['--lazy', ...stuck], { timeoutMs: UNMOUNT_MS });
}

/** The mount points below `dir`, the last mounted first. */
async function mountsBelow(dir: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  // Blanks and the like are written as octal escapes there.
  const points = lines.map((line) =>
    (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8))),
  );
  return points.filter((point) => point.startsWith(`${dir}/`)).reverse();
}

/** A machine without power has no exec root, which lies on a tmpfs on real hosts, and no sockets of shims. */
export async function clearExecRoot(dir: string): Promise<void> {
  const tasks = join(dir, 'exec/containerd/daemon/io.containerd.runtime.v2.task/moby');
  for (const id of await entries(tasks)) {
    const address = await readFile(join(tasks, id, 'address'), 'utf8').catch(() => '');
    // Shims listen outside the exec root, in a directory that containerd does not let one choose.
    if (address.startsWith('unix:///run/containerd/s/'))
      await rm(address.slice('unix://'.length).trim(), { force: true });
  }
  await removeAll(join(dir, 'exec'));
}

/** Removes a tree without ever reaching into something mounted there. */
export async function removeAll(dir: string): Promise<void> {
  await run('rm', ['-rf', '--one-file-system', dir], { timeoutMs: REMOVE_MS });
}

/** Removes the control groups of the engine's containers, in every hierarchy there is. */
export async function removeCgroups(name: string): Promise<void> {
  const mount = '/sys/fs/cgroup';
  for (const root of [mount, ...(await entries(mount)).map((entry) => join(mount, entry))]) {
    await removeCgroup(join(root, name));
  }
}

async function removeCgroup(dir: string): Promise<void> {
  for (const child of await directories(dir)) await removeCgroup(join(dir, child));
  // Missing in most hierarchies; one that is still in use shows up as a leftover in the tests.
  await rmdir(dir).catch(() => {});
}

async function entries(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}

async function directories(dir: string): Promise<string[]> {
  const all = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return all.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
