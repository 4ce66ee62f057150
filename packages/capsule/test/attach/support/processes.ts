import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Guards that are children of `parent`, each the leader of a session of its own. */
export function guardsOf(parent: number): number[] {
  const table = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,args='], { encoding: 'utf8' }).stdout;
  return table
    .split('\n')
    .filter((line) => line.includes('jackin-terminal-guard'))
    .map((line) => line.trim().split(/\s+/, 3).map(Number))
    .filter(([pid, ppid, pgid]) => ppid === parent && pid === pgid)
    .map(([pid]) => pid ?? 0);
}

/** Not there, or a zombie nobody has collected yet. */
export const processIsGone = (pid: number): boolean => ['', 'Z'].includes(stateOf(pid));

export const untilProcessIsGone = (pid: number): Promise<void> => untilState(pid, ['', 'Z']);

export const untilProcessIsStopped = (pid: number): Promise<void> => untilState(pid, ['T']);

/** Nothing announces what happens to a process that is not ours. */
async function untilState(pid: number, states: string[]): Promise<void> {
  const limit = AbortSignal.timeout(60_000);
  while (!states.includes(stateOf(pid))) await sleep(10, null, { signal: limit });
}

function stateOf(pid: number): string {
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .slice(0, 1);
}
