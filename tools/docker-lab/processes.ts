import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LabProcess {
  pid: number;
  parent: number;
  argv: string[];
}

const PATIENCE_MS = 15_000;
const LOOK_AGAIN_MS = 20;

/**
 * Every living process of the engine in `dir`: those that were given a path below its exec root, and their
 * descendants, the workloads of its containers among them.
 */
export async function labProcesses(dir: string): Promise<LabProcess[]> {
  const all = await listProcesses();
  const above = ancestors(all, process.pid);
  return descendants(
    all,
    all.filter((one) => belongs(one, dir) && !above.has(one.pid)),
  );
}

/** dockerd, its containerd and proxies: what dies when the engine crashes. Shims and containers go on. */
export async function engineProcesses(dir: string): Promise<LabProcess[]> {
  const ofLab = await labProcesses(dir);
  const shims = descendants(
    ofLab,
    ofLab.filter((one) => isShim(one, dir)),
  );
  return ofLab.filter((one) => !shims.includes(one));
}

/** Kills what `find` names until it names nothing more. @throws Error naming what withstands. */
export async function killAll(find: () => Promise<LabProcess[]>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let found = await find(); found.length > 0; found = await find()) {
    if (performance.now() > deadline) throw new Error(`Not ended by SIGKILL: ${describe(found)}`);
    for (const one of found) send(one.pid, 'SIGKILL');
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Resolves once `find` names nothing more. @throws Error naming what is left after `timeoutMs`. */
export async function untilGone(find: () => Promise<LabProcess[]>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  // They may be no children of ours: the kernel offers nothing to wait on.
  for (let found = await find(); found.length > 0; found = await find()) {
    if (performance.now() > deadline)
      throw new Error(`Still there after ${timeoutMs} ms: ${describe(found)}`);
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Sends a signal; a process that is gone already is fine. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function belongs({ argv }: LabProcess, dir: string): boolean {
  const execRoot = join(dir, 'exec');
  return argv.some((word) => word === execRoot || word.startsWith(`${execRoot}/`));
}

function isShim({ argv }: LabProcess, dir: string): boolean {
  return argv.includes(join(dir, 'exec', 'containerd', 'containerd.sock'));
}

async function listProcesses(): Promise<LabProcess[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  return (await Promise.all(pids.map((pid) => lookAt(Number(pid))))).filter((one) => one !== null);
}

/** Null for a process that is gone, and for a zombie: nothing can be done to it any more. */
async function lookAt(pid: number): Promise<LabProcess | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === undefined || 'ZXx'.includes(state)) return null;
    const argv = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    return { pid, parent: Number(parent), argv };
  } catch {
    return null;
  }
}

function descendants(all: LabProcess[], roots: LabProcess[]): LabProcess[] {
  const found = new Map(roots.map((one) => [one.pid, one]));
  let grew = true;
  while (grew) {
    const next = all.filter((one) => found.has(one.parent) && !found.has(one.pid));
    for (const one of next) found.set(one.pid, one);
    grew = next.length > 0;
  }
  return [...found.values()];
}

function ancestors(all: LabProcess[], pid: number): Set<number> {
  const parents = new Map(all.map((one) => [one.pid, one.parent]));
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !found.has(at); at = parents.get(at))
    found.add(at);
  return found;
}

function describe(processes: LabProcess[]): string {
  return processes.map(({ pid, argv }) => `${pid} (${argv.join(' ').trim()})`).join(', ');
}
